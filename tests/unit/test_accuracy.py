"""The accuracy table covers every function and stays below the promised errors."""

import json
from pathlib import Path

import pytest
from reference.make_score_moments import FILE

from largeprompt.accuracy import accuracy_table


@pytest.fixture(scope="module")
def references():
    return json.loads(Path(FILE).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def table(references):
    return accuracy_table(references)


@pytest.mark.parametrize(
    ("check", "largest"),
    [
        ("multiprecision", 1e-13),
        ("halved step", 1e-10),
        ("table on [0, 8]", 1e-9),
        ("half the query points", 1e-7),
    ],
)
def test_errors_are_below_what_is_promised(table, check, largest):
    rows = table[table.check == check]
    assert len(rows) > 0
    assert (rows.error < largest).all()


def test_every_function_is_checked(table):
    assert {"q", "h", "dq", "dh", "A1", "tau", "output_error", "gradient_u_error"} <= set(
        table.function
    )
    assert not table.isna().any(axis=None)


def test_a_wrong_reference_is_seen(references):
    wrong = [{**references[0], "h": float(references[0]["h"]) + 1e-6}, *references[1:]]
    errors = accuracy_table(wrong).set_index(["function", "check"]).error
    assert errors["h", "multiprecision"] == pytest.approx(1e-6, rel=1e-3)
