"""The results of this run become the reference of later ones."""

import datetime
import platform
from collections import Counter
from pathlib import Path
from typing import Any

from largeprompt.errors import InputError
from largeprompt.stages._job import Job
from largeprompt.tables import read_json, read_table, write_json, write_whole


def run(job: Job) -> None:
    """Copy each compared table to its reference and say where they come from.

    Raises InputError if a table is damaged or belongs to a run of another label.
    """
    for path, entry in zip(job.inputs["tables"], job.settings["comparisons"], strict=True):
        label = read_table(path, [*entry["keys"], entry["value"]]).attrs["run"]
        if label != job.run:
            raise InputError(f"{path}: belongs to a run labelled {label}, not {job.run}")
        write_whole(entry["reference"], Path(path).read_bytes())
    origins = [read_json(path, ["provenance"])["provenance"] for path in job.inputs["verdicts"]]
    write_json(job.outputs["provenance"], {"run": job.run, **_origin(origins)})


def _origin(origins: list[dict[str, Any]]) -> dict[str, Any]:
    """What the verdicts say of where they were made; how many say so where they differ."""

    def counted(key: str) -> dict[str, int]:
        return dict(Counter(str(origin[key]) for origin in origins))

    packages = {
        f"{name} {version}" for origin in origins for name, version in origin["packages"].items()
    }
    return {
        "commits": counted("git"),
        "configurations": counted("config"),
        "python": counted("python"),
        "packages": sorted(packages),
        "machine": f"{platform.system()} {platform.machine()}",
        "written": datetime.date.today().isoformat(),
    }
