"""How long the rules took, from what Snakemake's `benchmark` files say."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd


class RuleTime(NamedTuple):
    """Sums over the jobs of a rule: seconds by the clock and of the processor; largest memory."""

    rule: str
    jobs: int
    seconds: float
    cpu_seconds: float
    max_mebibytes: float


def times_by_rule(directory: str | Path) -> list[RuleTime]:
    """Every rule below `directory` (RULE.tsv or RULE/INSTANCE.tsv), the longest first.

    A job that ended too soon to be measured counts with what Snakemake wrote for it, or 0.
    """
    jobs = job_times(directory).fillna(0.0)
    sums = [
        RuleTime(
            *(str(rule), len(rows), rows["s"].sum(), rows["cpu_time"].sum(), rows["max_rss"].max())
        )
        for rule, rows in jobs.groupby("rule")
    ]
    return sorted(sums, key=lambda time: (-time.cpu_seconds, time.rule))


def job_times(directory: str | Path) -> pd.DataFrame:
    """One row a job: `rule`, `s` by the clock, `cpu_time`, `max_rss`; NaN where not measured."""
    directory = Path(directory)
    rows = [_measured(file, directory) for file in sorted(directory.rglob("*.tsv"))]
    return pd.DataFrame(rows, columns=["rule", "s", "cpu_time", "max_rss"])


def _measured(file: Path, directory: Path) -> tuple[str, float, float, float]:
    record = pd.read_csv(file, sep="\t")[["s", "cpu_time", "max_rss"]]
    numbers = record.apply(pd.to_numeric, errors="coerce").iloc[0]
    return (file.relative_to(directory).parts[0].removesuffix(".tsv"), *numbers)
