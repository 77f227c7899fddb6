"""What the mismatch of text and code does: excess risk of both data variants, length by length."""

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

KEYS = ["covariance", "method", "attention", "start", "L", "seed"]
COLUMNS = ["variant", *KEYS, "quantity", "value", "stderr"]
_QUANTITIES = ["loss", "risk"]


def run(job: Job) -> None:
    """Write risks above the label noise, `as-stated` and `as-coded`, with standard errors.

    Rows are the models and references that both variants have, at finite prompts.
    """
    table = read_table(job.input("losses"), COLUMNS)
    table = table[table["quantity"].isin(_QUANTITIES) & (table["attention"] != "infinite")]
    noise = job.settings["regression"]["noise_variance"]
    table = table.assign(excess=table["value"] - noise)
    variants = {name: rows.set_index(KEYS) for name, rows in table.groupby("variant")}
    stated, coded = variants["as-stated"], variants["as-coded"]
    both = stated[["excess", "stderr"]].join(
        coded[["excess", "stderr"]], how="inner", lsuffix="_stated", rsuffix="_coded"
    )
    write_table(job.outputs["table"], both.reset_index(), job.run)
