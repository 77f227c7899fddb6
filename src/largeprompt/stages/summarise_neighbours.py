"""Distances from the operators and exponents by scale of related papers, in one tidy table."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

_OPERATORS = ["neighbour", "case", "applies", "quantity", "L", "value", "stderr"]
_EXPONENTS = ["tilt", "asymptotic", "reachable", "form"]


def run(job: Job) -> None:
    """Write (panel, series, applies, x, value, stderr): x is the length or the tilt."""
    operators = read_table(job.input("operators"), _OPERATORS)
    operators = operators[operators["quantity"] == "distance"]
    distances = operators.rename(columns={"neighbour": "panel", "case": "series", "L": "x"})
    exponents = read_table(job.input("exponents"), _EXPONENTS)[_EXPONENTS]
    curves = exponents.melt("tilt", var_name="series", value_name="value")
    curves = curves.rename(columns={"tilt": "x"}).assign(panel="bohbot", applies=1, stderr=0.0)
    columns = ["panel", "series", "applies", "x", "value", "stderr"]
    write_table(job.outputs["table"], pd.concat([distances[columns], curves[columns]]), job.run)
