"""Snakemake looks for jobs to start when one has ended, and not all the time."""

import re
from types import SimpleNamespace

import pytest
from checkouts import SMOKE
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import MaxJobsPerTimespan

from lib.scheduling import lift_default_rate_limit

FLOWS = [
    f"results/train/infinite/method=flow/variant=as-stated/covariance=ar1/start={start}/seed=327.npz"
    for start in ("random", "theorem")
]


def limited(limit: str) -> SimpleNamespace:
    return SimpleNamespace(job_rate_limiter=JobRateLimiter(MaxJobsPerTimespan.parse_choice(limit)))


@pytest.mark.parametrize(("limit", "stays"), [("100/1s", False), ("100/2s", True), ("5/1s", True)])
def test_only_the_default_limit_is_lifted(limit, stays):
    scheduler = limited(limit)
    lift_default_rate_limit(scheduler)
    assert (scheduler.job_rate_limiter is not None) == stays


def test_waiting_jobs_are_looked_through_once_for_every_job_that_starts(fresh):
    done = fresh.snakemake(*SMOKE, "--cores", "1", "--verbose", *FLOWS)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert 0 < text.count("Ready jobs:") <= int(re.search(r"of (\d+) steps", text).group(1))
    assert "Submitting maximum 100 job(s) over 1.0 second(s)." in text  # the limit that was lifted
