"""The README says what the workflow does: its tables, links and commands are checked."""

import re
from pathlib import Path

import pytest
import yaml
from checkouts import SMOKE

from largeprompt.claims.decision import Verdict
from largeprompt.tables import read_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REGISTRY = yaml.safe_load((ROOT / "workflow/claims.yaml").read_text(encoding="utf-8"))


def rows(heading: str) -> dict[str, list[str]]:
    """First cell -> other cells of the table whose head begins with `heading`."""
    block = re.search(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, re.M).group(1)
    cells = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in block.splitlines()]
    return {first: rest for first, *rest in cells}


def test_table_of_claims_is_the_registry():
    table = rows("claim")
    assert list(table) == [entry["id"] for entry in REGISTRY]
    for entry in REGISTRY:
        paper, target, *_ = table[entry["id"]]
        assert (paper, target) == (entry["paper"]["v1"], entry["target"])


def test_verdicts_are_those_of_the_committed_full_run():
    reference = read_table(ROOT / "reference/claims.csv", ["id", "verdict"])
    assert reference.attrs["run"] == "full"
    verdicts = dict(zip(reference["id"], reference["verdict"], strict=True))
    assert {name: cells[-1] for name, cells in rows("claim").items()} == verdicts
    assert set(verdicts.values()) <= {str(v) for v in Verdict}


def test_table_of_figures_is_what_the_workflow_draws(fresh):
    jobs = fresh.plan("figures", *SMOKE).jobs
    drawn = {rule.removeprefix("plot_") for rule in jobs if rule.startswith("plot_")}
    table = rows("figure")
    assert set(table) == drawn
    assert {cells[1] for cells in table.values()} == {f"figures/{name}.pdf" for name in drawn}


def test_targets_of_the_registry_are_targets_of_the_workflow(fresh):
    targets = [entry["target"] for entry in REGISTRY]
    assert fresh.plan(*targets, *SMOKE).jobs["decide_claim"] == len(targets)


@pytest.mark.parametrize("link", re.findall(r"\]\(([^):]+)\)", README))
def test_link_leads_to_a_file(link):
    assert (ROOT / link.partition("#")[0]).exists()


def test_two_commands_come_first():
    first = re.search(r"```\n(.*?)```", README, re.S).group(1)
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make", "make test"]


def test_paths_named_in_the_layout_exist():
    block = README[README.index("## Layout") :]
    block = re.search(r"```\n(.*?)```", block, re.S).group(1)
    for name in re.findall(r"[\w/]+\.(?:py|yaml)\b|workflow/\w+\b(?!\.)", block):
        candidates = [ROOT / name, ROOT / "src/largeprompt" / name]
        assert any(path.exists() for path in candidates), name


def test_reading_guide_names_every_claim_and_figure_and_real_modules(fresh):
    guide = (ROOT / "docs/reading.md").read_text(encoding="utf-8")
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in guide.splitlines()[6:]]
    rows = [row for row in cells if len(row) == 5]
    listed = [name for row in rows for name in row[3].split(", ")]
    assert sorted(listed) == sorted(entry["id"] for entry in REGISTRY)
    drawn = {name for row in rows for name in row[4].split(", ")}
    assert drawn == {
        r.removeprefix("plot_") for r in fresh.plan("figures", *SMOKE).jobs if r.startswith("plot_")
    } - {"overview"}
    for module in re.findall(r"`(\w+\.py)`", guide):
        assert (ROOT / "src/largeprompt" / module).exists(), module
