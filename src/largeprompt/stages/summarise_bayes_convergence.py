"""The figure of Theorem 5.1: excess at its end point against L, and where the flow converges."""

import numpy as np
import pandas as pd

from largeprompt.bayes_endpoint import interval_end
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

EXCESS = ["law", "d", "weights", "L", "excess"]
FLOWS = ["d", "norm", "alpha", "start", "excess_ratio"]
COLUMNS = ["panel", "series", "d", "x", "y", "reached"]


def run(job: Job) -> None:
    """Write panel `excess` (x = L, y = L excess) and panel `map` (x = |Sigma|_op, y = alpha).

    `reached` is 1 where a flow's excess is at most endpoints.reached; the series
    `interval` of the map is the end of the stated interval for alpha.
    """
    excess = read_table(job.input("excess"), EXCESS)
    excess = excess[(excess["law"] == "gaussian") & (excess["weights"] != "endpoint-far")]
    curves = excess.rename(columns={"weights": "series", "L": "x"})
    curves["y"] = curves["x"] * curves["excess"]
    flows = read_table(job.input("flows"), FLOWS)
    flows = flows[flows["start"] == "theorem"]
    flows = flows.assign(reached=flows["excess_ratio"] <= job.settings["endpoints"]["reached"])
    points = flows.rename(columns={"norm": "x", "alpha": "y"}).assign(series="flow")
    cells = flows[["d", "norm"]].drop_duplicates().sort_values(["d", "norm"])
    ends = [interval_end(norm * np.eye(d)) for d, norm in cells.itertuples(index=False)]
    border = cells.rename(columns={"norm": "x"}).assign(y=ends, series="interval")
    tables = [
        curves.assign(panel="excess", reached=1),
        points.assign(panel="map"),
        border.assign(panel="map", reached=1),
    ]
    table = pd.concat(tables, ignore_index=True)
    table["reached"] = table["reached"].astype(int)
    write_table(job.outputs["table"], table[COLUMNS], job.run)
