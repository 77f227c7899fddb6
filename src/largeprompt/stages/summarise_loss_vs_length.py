"""Final losses of every model beside exact flows and the references of each prompt length."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.stages._training_file import read_training
from largeprompt.tables import read_table, write_table

CASE = ("variant", "covariance")
MODEL = ("method", "attention", "start", "L", "seed")
COLUMNS = [*CASE, *MODEL, "quantity", "value", "stderr"]


def run(job: Job) -> None:
    """Write the test losses, the exact risks of flows at their horizon, and the references.

    References are `ridge` (Bayes risk) and `optimum` (the best softmax or linear attention). As
    for trained models, `minus_infinite` is what a flow has in excess of the infinite prompt's.
    """
    losses = [read_table(path, COLUMNS) for path in job.inputs["losses"]]
    references = [read_table(path, COLUMNS) for path in job.inputs["references"]]
    flows = pd.DataFrame([_flow(path) for path in job.inputs["flows"]])
    tables = [*losses, flows, _excess(flows), *references]
    write_table(job.outputs["table"], pd.concat(tables)[COLUMNS], job.run)


def _flow(path: str) -> dict:
    training = read_training(path)
    labels = {name: training.labels[name] for name in (*CASE, *MODEL)}
    return labels | {"quantity": "risk", "value": training.loss[-1], "stderr": 0.0}


def _excess(flows: pd.DataFrame) -> pd.DataFrame:
    """Risks of finite prompts less that of the infinite prompt of the same run."""
    run = [*CASE, "start", "seed"]
    infinite = flows["attention"] == "infinite"
    limit = flows[infinite].set_index(run)["value"].rename("limit")
    finite = flows[~infinite].join(limit, on=run)
    excess = finite.assign(value=finite["value"] - finite["limit"], quantity="minus_infinite")
    return excess.drop(columns="limit")
