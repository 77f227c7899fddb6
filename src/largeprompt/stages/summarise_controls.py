"""Laws for which the lemma fails, beside laws for which concentration fails."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

LIMIT = ["law", "limit", "quantity", "L", "value", "stderr"]
SPREAD = ["law", "heavy", "sigma", "quantity", "L", "error", "stderr", "calibrates", "bound"]


def run(job: Job) -> None:
    """Write rows of two panels: `lemma` (floors and gaps) and `concentration` (sigma = 1)."""
    lemma = read_table(job.input("limits"), LIMIT)
    lemma = lemma[lemma["quantity"].isin(["floor", "gap"])].assign(panel="lemma", bound=0.0)
    lemma["quantity"] = lemma["limit"] + " " + lemma["quantity"]
    spread = read_table(job.input("spread"), SPREAD)
    spread = spread[(spread["sigma"] == 1) & (spread["quantity"] == "spread")]
    spread = spread.rename(columns={"error": "value"}).assign(panel="concentration")
    columns = ["panel", "law", "quantity", "L", "value", "stderr", "bound"]
    write_table(job.outputs["table"], pd.concat([lemma[columns], spread[columns]]), job.run)
