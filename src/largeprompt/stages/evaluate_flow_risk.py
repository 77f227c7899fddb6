"""Exact risks of the flows of one case, when SGD ends and at the limit time."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import write_table

CASE = ("variant", "covariance")
MODEL = ("method", "attention", "start", "L", "seed")
_PAIR = ["start", "seed", "quantity"]


def run(job: Job) -> None:
    """Write `risk` (at the horizon) and `limit_risk` (at the limit time) of every flow.

    As for models trained by SGD, `minus_infinite` is what a finite prompt has in excess of the
    infinite prompt of the same start and seed, at the horizon.
    """
    horizon = job.settings["horizon"]
    flows = [row for path in job.inputs["flows"] for row in _rows(read_training(path), horizon)]
    table = pd.DataFrame(flows)
    table = pd.concat([table, _excess(table)]).assign(stderr=0.0)
    write_table(
        job.outputs["table"], table[[*CASE, *MODEL, "quantity", "value", "stderr"]], job.run
    )


def _rows(training: Training, horizon: float) -> Iterator[dict]:
    labels = {name: training.labels[name] for name in (*CASE, *MODEL)}
    at = int(np.argmin(np.abs(training.time - horizon)))
    yield labels | {"quantity": "risk", "value": training.loss[at]}
    yield labels | {"quantity": "limit_risk", "value": training.loss[-1]}


def _excess(flows: pd.DataFrame) -> pd.DataFrame:
    infinite = flows["attention"] == "infinite"
    limit = flows[infinite].set_index(_PAIR)["value"].rename("infinite")
    finite = flows[~infinite & (flows["quantity"] == "risk")].join(limit, on=_PAIR)
    excess = finite.assign(value=finite["value"] - finite["infinite"], quantity="minus_infinite")
    return excess.drop(columns="infinite")
