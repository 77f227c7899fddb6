import pandas as pd
import pytest

from largeprompt.errors import InputError
from largeprompt.verification import Tolerance, compared, tolerance_name

LOOSE = {"loose": Tolerance(absolute=0.1, relative=0.01), "words": Tolerance(0, 0)}


def table(**values) -> pd.DataFrame:
    return pd.DataFrame({"claim": list(values), "value": list(values.values())})


def test_distance_up_to_absolute_plus_relative_is_the_same():
    reference = table(a=10.0, b=10.0, c=-10.0)
    measured = table(a=10.1999, b=10.2001, c=-9.8001)
    rows, _, _ = compared(measured, reference, ["claim"], "value", "loose", LOOSE)
    assert list(rows["ok"]) == [True, False, True]
    assert list(rows["allowed"]) == pytest.approx([0.2] * 3)


def test_words_must_be_the_same_words():
    rows, _, _ = compared(
        table(a="yes", b="no"), table(a="yes", b="yes"), ["claim"], "value", "words", LOOSE
    )
    assert list(rows["ok"]) == [True, False]


def test_rows_of_one_side_are_counted_and_not_judged():
    rows, only_run, only_reference = compared(
        table(a=1.0, b=2.0, c=3.0), table(b=2.0, d=4.0), ["claim"], "value", "loose", LOOSE
    )
    assert list(rows["quantity"]) == ["b"]
    assert (only_run, only_reference) == (2, 1)


def test_tables_without_a_common_row_are_refused():
    with pytest.raises(InputError, match="share no row"):
        compared(table(a=1.0), table(b=1.0), ["claim"], "value", "loose", LOOSE)


def test_keys_that_do_not_tell_rows_apart_are_refused():
    twice = pd.concat([table(a=1.0), table(a=2.0)])
    with pytest.raises(InputError, match="same claim"):
        compared(table(a=1.0), twice, ["claim"], "value", "loose", LOOSE)


def test_not_a_number_is_never_within_tolerance():
    rows, _, _ = compared(
        table(a=float("nan"), b=1.0), table(a=1.0, b=1.0), ["claim"], "value", "loose", LOOSE
    )
    assert list(rows["ok"]) == [False, True]


def test_tolerance_is_looked_up_key_by_key():
    choice = {"a": "loose", "b": {"x": "words"}}
    assert tolerance_name(choice, ("a", "anything")) == "loose"
    assert tolerance_name(choice, ("b", "x")) == "words"
    for key, named in ((("c", "x"), "c"), (("b", "y"), "b y"), (("b",), "b")):
        with pytest.raises(InputError, match=f"no tolerance is set for {named}$"):
            tolerance_name(choice, key)
