"""The paper in four panels: operator limit, concentration, trajectory, loss against L."""

import numpy as np
import pandas as pd

from largeprompt.main_case import first_seed, main_case
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

LIMIT = ["law", "limit", "quantity", "L", "value", "stderr"]
ERROR = ["law", "source", "sigma", "L", "error", "stderr", "bound"]
PATH = ["parameters", "start", "points", "L", "quantity", "time", "value"]
LOSS = ["method", "attention", "variant", "covariance", "start", "L", "seed", "quantity"]
LOSS += ["value", "stderr"]
COLUMNS = ["panel", "series", "kind", "x", "value", "stderr"]


def run(job: Job) -> None:
    """Write rows of the panels lemma, concentration, trajectory, loss; kind: points, line, bound.

    Lemma 2.1: distance from the affine formula by law. Proposition 3.1: exact errors of Gaussian
    tokens and their bound by sigma. Lemma D.1: distance of the paths of the factors by length.
    Section 6: SGD (points) and exact flow (line) by attention, and the Bayes risk.
    """
    parts = [
        _lemma(read_table(job.input("limit"), LIMIT)),
        _concentration(read_table(job.input("error"), ERROR)),
        _trajectory(read_table(job.input("path"), PATH)),
        _loss(first_seed(main_case(read_table(job.input("loss"), LOSS)))),
    ]
    write_table(job.outputs["table"], pd.concat(parts)[COLUMNS], job.run)


def _lemma(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[(table["limit"] == "affine") & (table["quantity"] == "distance")]
    rows = rows.rename(columns={"law": "series", "L": "x"})
    return rows.assign(panel="lemma", kind="points")


def _concentration(table: pd.DataFrame) -> pd.DataFrame:
    exact = table[(table["source"] == "exact") & (table["law"] == "gaussian")]
    rows = exact.rename(columns={"error": "value"}).assign(kind="line")
    bound = exact[exact["L"] >= 2].assign(value=exact["bound"], kind="bound")
    both = pd.concat([rows, bound]).rename(columns={"L": "x", "sigma": "series"})
    return both.assign(panel="concentration", stderr=0.0)


def _trajectory(table: pd.DataFrame) -> pd.DataFrame:
    chosen = (table["start"] == "same") & (table["points"] == "path")
    chosen &= (table["parameters"] == "factorised") & (table["quantity"] == "distance")
    rows = table[chosen & (table["time"] > 0)].rename(columns={"L": "series", "time": "x"})
    return rows.assign(panel="trajectory", kind="line", stderr=0.0)


def _loss(table: pd.DataFrame) -> pd.DataFrame:
    finite = table[np.isfinite(table["L"])]
    points = finite[(finite["method"] == "sgd") & (finite["quantity"] == "loss")]
    flow = finite[(finite["method"] == "flow") & (finite["quantity"] == "risk")]
    ridge = finite[finite["method"] == "ridge"].assign(attention="ridge")
    named = [points.assign(kind="points"), flow.assign(kind="line"), ridge.assign(kind="line")]
    rows = pd.concat(named).rename(columns={"attention": "series", "L": "x"})
    return rows.assign(panel="loss")
