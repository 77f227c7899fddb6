"""The table of claims at a terminal: fits its width, loses no word, names controls that pass."""

import re

import pandas as pd
import pytest

from largeprompt.tables import write_table
from lib import claims_table
from lib.costs import Records

ROWS = [
    {
        **{"id": "a-claim-with-a-long-name", "verdict": "reproduced after repair"},
        **{"measured": "error ± 0.2 of what was expected at most", "allowed": "less than 0.5"},
        **{
            "control": "fails as it must (x)",
            "target": "results/claims/a-claim-with-a-long-name.json",
        },
    },
    {
        **{"id": "short", "verdict": "inconclusive", "measured": "much", "allowed": "0"},
        **{"control": "PASSES: the rule cannot tell (y)", "target": "results/claims/short.json"},
    },
]


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What is printed for `rows` at a terminal of `width` columns."""

    made = {ROWS[1]["target"]: {"input": [], "log": ["logs/short.log"]}}
    (tmp_path / "results/claims").mkdir(parents=True)
    (tmp_path / ROWS[1]["target"]).touch()
    (tmp_path / "results/benchmarks").mkdir()
    benchmark = "s\tmax_rss\tcpu_time\n200.0\t10.0\t150.0\n"
    (tmp_path / "results/benchmarks/short.tsv").write_text(benchmark)

    def of(rows, width=80, run="full"):
        monkeypatch.setenv("COLUMNS", str(width))
        write_table(tmp_path / "claims.csv", pd.DataFrame(rows), run)
        return claims_table.printed(tmp_path / "claims.csv", Records(tmp_path, made))

    return of


@pytest.mark.parametrize("width", [48, 60, 80, 200])
@pytest.mark.parametrize("run", ["full", "smoke"])
def test_lines_fit_the_terminal(printed, width, run):
    lines = printed(ROWS, width, run).splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [60, 200])
def test_no_word_is_lost_in_wrapping(printed, width):
    text = printed(ROWS, width)
    for row in ROWS:
        for name in ("verdict", "measured", "allowed"):
            for word in row[name].split():
                assert re.search(rf"(?<!\S){re.escape(word)}(?!\S)", text), word


def test_time_is_that_of_the_jobs_behind_the_target_where_they_are_recorded(printed):
    long, short = (
        next(x for x in printed(ROWS, 200).splitlines() if x.startswith(row["id"])) for row in ROWS
    )
    assert re.search(r"inconclusive +2 min  much", short)
    assert re.search(r"reproduced +\? +error", long)


def test_controls_that_pass_are_named_and_only_they(printed):
    assert "cannot tell: short." in printed(ROWS, 200)
    assert "Every negative control fails, as it must." in printed(ROWS[:1], 200)


def test_one_line_says_how_to_decide_a_claim_alone(printed):
    assert printed(ROWS).count("snakemake results/claims/CLAIM.json") == 1


def test_shortened_run_is_marked_at_both_ends(printed):
    lines = printed(ROWS, 200, "trial").splitlines()
    assert "TRIAL RUN" in lines[0]
    assert "TRIAL RUN" in lines[-1]
    assert " RUN" not in printed(ROWS)
