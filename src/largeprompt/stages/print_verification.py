"""The comparison with the reference run for a person at a terminal."""

import textwrap
from typing import Any

from largeprompt.errors import InputError
from largeprompt.stages._job import Job
from largeprompt.tables import read_json

_HEAD = ("quantity", "measured", "reference", "allowed", "ok")


def run(job: Job) -> None:
    """Print every comparison, then what the tolerances are for.

    Raises InputError, one line that names what missed, if a number is farther off than allowed.
    """
    report = read_json(job.input("report"), ["run", "tolerances", "comparisons"])
    comparisons = report["comparisons"]
    for comparison in comparisons:
        _print_comparison(comparison)
    rows = [row for comparison in comparisons for row in comparison["rows"]]
    print("\nTolerances (absolute + relative x reference):")
    for name in sorted({row["tolerance"] for row in rows}):
        t = report["tolerances"][name]
        text = f"{name}: {t['absolute']:g} + {t['relative']:g} x. {t['reason']}"
        print(textwrap.indent(textwrap.fill(text, 94, subsequent_indent="  "), "  "))
    missed = [row["quantity"] for row in rows if not row["ok"]]
    if missed:
        raise InputError(f"{len(missed)} of {len(rows)} missed: {', '.join(missed)}")
    print(f"\nAll {len(rows)} within their tolerance of the {report['run']} reference run.")


def _print_comparison(comparison: dict[str, Any]) -> None:
    cells = [_HEAD, *(_cells(row) for row in comparison["rows"])]
    widths = [max(len(row[i]) for row in cells) for i in range(len(_HEAD))]
    print(f"\n{comparison['table']}")
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(f"  {line.rstrip()}")
    for key, where in (("only_in_run", "run"), ("only_in_reference", "reference")):
        if comparison[key]:
            print(f"  {comparison[key]} more rows only in the {where}")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if isinstance(row["measured"], str):
        return row["quantity"], row["measured"], row["reference"], "same", _word(row)
    numbers = (f"{row['measured']:.8g}", f"{row['reference']:.8g}", f"{row['allowed']:.1e}")
    return row["quantity"], *numbers, _word(row)


def _word(row: dict[str, Any]) -> str:
    return f"yes ({row['tolerance']})" if row["ok"] else f"NO ({row['tolerance']})"
