"""Rewrites what ARTIFACT.md and codecheck.yml say of a full run, from its results and records.

python -m lib.artifact RUN ROOT: the run directory, and the repository that holds both files.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from largeprompt.errors import InputError
from largeprompt.tables import read_json, read_table
from lib.costs import Cost, Records, duration, read_records
from lib.registry import read_registry

CLAIMS = "results/summary/claims.csv"
_MARKDOWN = ("<!-- begin: written by `snakemake write_artifact` -->", "<!-- end -->")
_YAML = ("# begin: written by `snakemake write_artifact`", "# end")


def write_artifact(run: Path, root: Path) -> None:
    """Replace the marked block of both files.

    Raises InputError if the run is a shortened one, LookupError if it lacks records.
    """
    table = read_table(run / CLAIMS, ["id", "verdict", "measured", "allowed"])
    if table.attrs["run"] != "full":
        raise InputError(f"ARTIFACT.md describes the full run; this one is {table.attrs['run']}")
    registry, records = read_registry(root / "workflow/claims.yaml"), read_records(run)
    rows = {row["id"]: row for row in table.to_dict(orient="records")}
    text = _whole_run(records, registry) + _costs(records, registry, rows) + _expected(rows)
    _replace(root / "ARTIFACT.md", _MARKDOWN, text)
    _replace(root / "codecheck.yml", _YAML, manifest(records, registry))


def made_anew(records: Records) -> list[str]:
    """The figures (PDF) and tables that the run makes."""
    figures = [f for f in _figures(records) if f.endswith(".pdf")]
    files = records.behind([*figures, CLAIMS])
    return sorted(figures) + [f for f in files if f.startswith("results/summary/")]


def _figures(records: Records) -> list[str]:
    """Those of the default run; larger grids have folders of their own."""
    return [f for f in records.records if re.fullmatch(r"figures/[^/]+", f)]


def manifest(records: Records, registry: Mapping[str, Any]) -> str:
    """The CODECHECK manifest: each file, and which statements of the paper it bears on."""
    entries = [{"file": f, "comment": _comment(f, registry)} for f in made_anew(records)]
    return yaml.safe_dump({"manifest": entries}, sort_keys=False, width=200)


def _comment(file: str, registry: Mapping[str, Any]) -> str:
    name = Path(file).stem
    claims = [e for e in registry.values() if file in e["tables"] or name == e["figure"]]
    statements = sorted({entry["paper"]["v1"] for entry in claims})
    if file == CLAIMS:
        return "Verdicts on all claims"
    return "; ".join(statements) if statements else "Context of Sections 3 and 6"


def _whole_run(records: Records, registry: Mapping[str, Any]) -> str:
    cost = records.cost([*_figures(records), CLAIMS])
    verdicts = [records.directory / entry["target"] for entry in registry.values()]
    origins = [read_json(path, ["provenance"])["provenance"] for path in verdicts]
    commits, pythons = (", ".join(sorted({o[key] for o in origins})) for key in ("git", "python"))
    return (
        f"The whole run: {duration(cost.seconds)} of processor time, "
        f"{_size(cost.memory)} of memory at most in one job,\n"
        f"{_size(cost.disk)} on disk. Measured on Python {pythons}, commit {commits}.\n\n"
    )


def _costs(records: Records, registry: Mapping[str, Any], rows: Mapping[str, Any]) -> str:
    lines = ["| claim | command | verdict | time | memory | disk |", "|---|---|---|---|---|---|"]
    for name, entry in registry.items():
        cost = records.cost([entry["target"]])
        cells = [name, f"`snakemake {entry['target']}`", rows[name]["verdict"], *_cells(cost)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _expected(rows: Mapping[str, Any]) -> str:
    lines = ["| claim | expected | allowed |", "|---|---|---|"]
    for name, row in rows.items():
        cells = [name, *(str(row[key]).replace("|", "\\|") for key in ("measured", "allowed"))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cells(cost: Cost) -> tuple[str, str, str]:
    return duration(cost.seconds), _size(cost.memory), _size(cost.disk)


def _size(megabytes: float) -> str:
    return f"{megabytes:.0f} MB" if megabytes >= 1 else f"{max(1000 * megabytes, 1):.0f} kB"


def _replace(file: Path, markers: tuple[str, str], text: str) -> None:
    head, _, rest = file.read_text(encoding="utf-8").partition(markers[0])
    _, found, tail = rest.partition(markers[1])
    if not found:
        raise InputError(f"{file.name}: no block between {markers[0]} and {markers[1]}")
    file.write_text(f"{head}{markers[0]}\n{text}{markers[1]}{tail}", encoding="utf-8")


if __name__ == "__main__":
    try:
        write_artifact(*map(Path, sys.argv[1:]))
    except (InputError, LookupError) as error:
        sys.exit(f"write_artifact: error: {error}")
