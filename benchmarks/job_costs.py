"""Time and memory of the jobs of a run, rule by rule, from results/benchmarks.

Snakemake takes memory and processor time at intervals that grow to 30 s, so the processor time of a
long job lacks its last seconds; wall-clock time is whole, but counts waiting on a busy machine.
"""

import argparse
from pathlib import Path

import pandas as pd

from largeprompt.report.times import job_times


def costs(folder: Path) -> pd.DataFrame:
    """One row a rule: jobs, wall-clock and processor time in s, peak memory in MB.

    Raises FileNotFoundError where `folder` holds no benchmark.
    """
    jobs = job_times(folder)
    if jobs.empty:
        raise FileNotFoundError(f"{folder}: no benchmarks; run snakemake first")
    return jobs.groupby("rule").agg(
        jobs=("s", "size"),
        wall_median=("s", "median"),
        wall_max=("s", "max"),
        cpu_max=("cpu_time", "max"),
        cpu_sum=("cpu_time", "sum"),
        memory_max=("max_rss", "max"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results/benchmarks"))
    print(costs(parser.parse_args().folder).round(1).to_string())


if __name__ == "__main__":
    main()
