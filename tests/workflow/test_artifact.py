"""What reviewers and archives read about the repository agrees with what it is and does."""

import json
import re
import shutil
import tomllib

import jsonschema
import pytest
import yaml
from checkouts import ROOT, SMOKE

from largeprompt.errors import InputError
from largeprompt.tables import read_table
from lib.artifact import made_anew, manifest, write_artifact
from lib.costs import read_records
from lib.registry import read_registry

REGISTRY = read_registry(ROOT / "workflow/claims.yaml")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def rows(head: str) -> dict[str, list[str]]:
    """First cell -> other cells of the table of ARTIFACT.md whose head is `head`."""
    block = text("ARTIFACT.md").partition(f"| {head} |\n")[2].split("\n\n")[0]
    lines = [line for line in block.splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    return {first.strip(): [c.strip().replace("\\|", "|") for c in rest] for first, *rest in cells}


@pytest.fixture(scope="module")
def reference() -> dict[str, dict]:
    table = read_table(ROOT / "reference/claims.csv", ["id", "verdict", "measured", "allowed"])
    return {row["id"]: row for row in table.to_dict(orient="records")}


def test_artifact_page_names_every_claim_with_its_command_and_reference_verdict(reference):
    table = rows("claim | command | verdict | time | memory | disk")
    assert list(table) == list(REGISTRY) == list(reference)
    for name, (command, verdict, *costs) in table.items():
        assert command == f"`snakemake {REGISTRY[name]['target']}`"
        assert verdict == reference[name]["verdict"]
        assert all(re.fullmatch(r"\d+ (s|min|MB|kB)", cost) for cost in costs)


def test_artifact_page_expects_what_the_reference_run_measured(reference):
    table = rows("claim | expected | allowed")
    assert table == {n: [row["measured"], row["allowed"]] for n, row in reference.items()}


def test_manifest_is_the_figures_and_tables_that_a_run_makes(fresh):
    done = fresh.snakemake("-n", "--forceall", *SMOKE)
    outputs = re.findall(r"^    output: (.*)$", done.stdout, re.M)
    files = {file for line in outputs for file in line.split(", ")}
    made = {f for f in files if re.match(r"figures/.*\.pdf$|results/summary/.*\.csv$", f)}
    entries = yaml.safe_load(text("codecheck.yml"))["manifest"]
    assert {entry["file"] for entry in entries} == made
    assert len(entries) == len(made)
    assert all(entry["comment"] for entry in entries)


def test_manifest_and_costs_come_from_the_records_of_a_run(finished_run):
    records = read_records(finished_run / "smoke")
    assert yaml.safe_load(manifest(records, REGISTRY)) == {
        "manifest": yaml.safe_load(text("codecheck.yml"))["manifest"]
    }
    training = records.cost(["results/claims/section-6.json"])
    identity = records.cost(["results/claims/lemma-2.1-identity.json"])
    assert training.seconds > identity.seconds > 0
    assert training.disk > identity.disk > 0
    assert training.memory > 50
    assert "results/claims/section-6.json" not in made_anew(records)
    with pytest.raises(LookupError, match=r"figures/none\.pdf: no record"):
        records.cost(["figures/none.pdf"])


def test_shortened_run_does_not_rewrite_the_page(finished_run, tmp_path):
    shutil.copy(ROOT / "ARTIFACT.md", tmp_path)
    with pytest.raises(InputError, match="this one is smoke"):
        write_artifact(finished_run / "smoke", tmp_path)
    assert (tmp_path / "ARTIFACT.md").read_text(encoding="utf-8") == text("ARTIFACT.md")


@pytest.mark.parametrize(
    "link", re.findall(r"`([\w/]+\.(?:yaml|py|md|cff|json|yml))`", text("ARTIFACT.md"))
)
def test_file_named_on_the_artifact_page_exists(link):
    assert (ROOT / link).exists()


def test_citation_file_follows_its_schema():
    """The schema is that of citation-file-format 1.2.0 (CC BY 4.0)."""
    schema = json.loads(text("tests/reference/cff-1.2.0.schema.json"))
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(text("CITATION.cff")))
    broken = yaml.safe_load(text("CITATION.cff")) | {"authors": []}
    assert not jsonschema.Draft7Validator(schema).is_valid(broken)


def test_version_title_and_licence_are_the_same_everywhere():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    citation = yaml.safe_load(text("CITATION.cff"))
    deposit = json.loads(text(".zenodo.json"))
    check = yaml.safe_load(text("codecheck.yml"))
    assert {citation["version"], deposit["version"]} == {project["version"]}
    assert check["source"] == f"{project['name']} {project['version']}"
    assert {citation["title"], deposit["title"]} == {project["name"]}
    assert {citation["license"], deposit["license"]} == {project["license"]}
    assert text("LICENSE").startswith(f"{project['license']} License")
    assert [c["name"] for c in deposit["creators"]] == [a["name"] for a in citation["authors"]]
    assert citation["authors"][0]["name"] in text("LICENSE")
