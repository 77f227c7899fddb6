"""The table of claims at a terminal: fits its width, loses no word, names controls that pass."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from largeprompt.stages import print_claims
from largeprompt.tables import write_table

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
def printed(tmp_path, monkeypatch, capsys):
    """What is printed for `rows` at a terminal of `width` columns."""

    def of(rows, width=80, run="full"):
        monkeypatch.setenv("COLUMNS", str(width))
        write_table(tmp_path / "claims.csv", pd.DataFrame(rows), run)
        print_claims.run(SimpleNamespace(input=lambda name: tmp_path / "claims.csv"))
        return capsys.readouterr().out

    return of


@pytest.mark.parametrize("width", [40, 60, 80, 200])
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
