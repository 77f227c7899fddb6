"""The verdict on one claim, with what is needed to check it."""

import dataclasses
import importlib

from largeprompt.stages._job import Job
from largeprompt.stages._provenance import provenance
from largeprompt.tables import read_table, write_json


def run(job: Job) -> None:
    """Write verdict, measured value, allowed value, control and provenance of the claim.

    The rule's code is a param of its own in the workflow: this import is not seen by the hash.
    """
    entry = job.settings["claim"]
    module = importlib.import_module(f"largeprompt.claims.{entry['module']}")
    tables = [read_table(path, module.COLUMNS) for path in job.inputs["tables"]]
    decision = module.decide(tables, entry["tolerance"])
    write_json(
        job.outputs["verdict"],
        {
            **entry,
            "run": job.run,
            "verdict": decision.verdict,
            "measured": decision.measured,
            "allowed": decision.allowed,
            "numbers": {name: float(value) for name, value in decision.numbers.items()},
            "control_result": dataclasses.asdict(decision.control),
            "provenance": provenance(job.inputs["tables"]),
        },
    )
