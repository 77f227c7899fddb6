"""The line that matters of each job that failed, found through Snakemake's own logs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_ERROR = re.compile(r"^Error in rule (\w+):\n(?:    .*\n)*?    log: (.*) \(check log", re.M)


def failures(snakemake_logs: Iterable[Path]) -> Iterator[str]:
    """One line for each failed job: its rule, the last line of its log, and where that log is."""
    text = "".join(p.read_text(encoding="utf-8", errors="replace") for p in snakemake_logs)
    for rule, log in dict.fromkeys(_ERROR.findall(text)):
        yield f"{rule} failed: {_last_line(Path(log))} (log: {Path(log).resolve()})"


def _last_line(log: Path) -> str:
    if not log.is_file():
        return "it left no log"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "its log is empty")
