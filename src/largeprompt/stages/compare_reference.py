"""A run beside the reference run: every number, how far off it may be, and whether it is."""

from pathlib import Path
from typing import Any

import pandas as pd

from largeprompt.errors import InputError
from largeprompt.stages._job import Job
from largeprompt.stages._provenance import provenance
from largeprompt.tables import read_table, write_json
from largeprompt.verification import Tolerance, compared


def run(job: Job) -> None:
    """Write the comparisons of the settings, whatever they find; `print_verification` judges."""
    tolerances = {
        name: Tolerance(entry["absolute"], entry["relative"])
        for name, entry in job.settings["tolerances"].items()
    }
    found = [
        _comparison(entry, path, tolerances)
        for entry, path in zip(job.settings["comparisons"], job.inputs["tables"], strict=True)
    ]
    write_json(
        job.outputs["report"],
        {
            "run": job.run,
            "ok": all(row["ok"] for one in found for row in one["rows"]),
            "tolerances": dict(job.settings["tolerances"]),
            "comparisons": found,
            "provenance": provenance(job.inputs["tables"]),
        },
    )


def _comparison(entry: dict, path: str, tolerances: dict[str, Tolerance]) -> dict[str, Any]:
    if not Path(entry["reference"]).exists():
        raise InputError(
            f"{entry['reference']} is missing: this run has no reference to compare with"
        )
    columns = [*entry["keys"], entry["value"]]
    measured, reference = read_table(path, columns), read_table(entry["reference"], columns)
    _same_run(measured, reference, entry["reference"])
    try:
        rows, only_run, only_reference = compared(
            *(measured, reference, entry["keys"], entry["value"], entry["tolerance"], tolerances)
        )
    except InputError as error:
        raise InputError(f"{entry['table']}: {error}") from None
    return {
        "table": entry["table"],
        "only_in_run": only_run,
        "only_in_reference": only_reference,
        "rows": rows.to_dict(orient="records"),
    }


def _same_run(measured: pd.DataFrame, reference: pd.DataFrame, file: str) -> None:
    ours, theirs = measured.attrs["run"], reference.attrs["run"]
    if ours != theirs:
        raise InputError(f"{file} belongs to a run labelled {theirs}, this one is labelled {ours}")
