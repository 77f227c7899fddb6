"""Inputs of a job are refused, by name, where they hold what their path does not say."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.errors import InputError
from largeprompt.stages._inputs import check_inputs
from largeprompt.tables import write_arrays, write_table


@pytest.mark.parametrize("held", ["10000", "1e+04"])
def test_label_may_be_spelt_otherwise(tmp_path, held):
    path = tmp_path / "attention=softmax/L=10000.npz"
    write_arrays(path, attention="softmax", L=held, values=np.ones(2))
    check_inputs({"training": [str(path)]}, None)


@pytest.mark.parametrize(("name", "held"), [("L", "1000"), ("attention", "linear")])
def test_other_label_is_refused(tmp_path, name, held):
    path = tmp_path / "attention=softmax/L=10000.npz"
    labels = {"attention": "softmax", "L": "1e+04"} | {name: held}
    write_arrays(path, **labels)
    with pytest.raises(InputError, match=f"holds {name} = {held}"):
        check_inputs({"training": [str(path)]}, None)


def test_table_of_another_run_is_refused(tmp_path):
    path = tmp_path / "seed=1.csv"
    write_table(path, pd.DataFrame({"seed": [1], "value": [0.5]}), "smoke")
    check_inputs({"table": [str(path)]}, "smoke")
    with pytest.raises(InputError, match="holds run = smoke, not full"):
        check_inputs({"table": [str(path)]}, "full")
