"""What Snakemake's scheduler should not do."""

from snakemake.scheduling.job_scheduler import JobScheduler

_DEFAULT_LIMIT = (100, 1)  # jobs, seconds


def lift_default_rate_limit(scheduler: JobScheduler) -> None:
    """Let any number of jobs start in a second, unless another limit was asked for.

    While there is a limit, Snakemake 9.27 looks through all waiting jobs once a second for every
    job that has started (each look orders the next): after a thousand jobs that takes a core. At
    the end it waits a second more for the looks still to come.
    """
    limiter = scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == _DEFAULT_LIMIT:
        scheduler.job_rate_limiter = None
