"""The SLURM profile on a cluster of one node: bytes of a local run, lost jobs made again."""

import re
import subprocess
import time

import pytest
from checkouts import SMOKE, SNAKEMAKE, Checkout, copy_tree
from slurm.one_node import cancel, one_node_cluster, running_jobs, why_not

TARGET = "results/claims/section-6.json"
PROFILE = ("--workflow-profile", "profiles/slurm")
# A cluster without accounting answers through squeue, and one on this machine answers at once.
HERE = (
    *("--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "1"),
    *("--latency-wait", "10"),
)


@pytest.fixture
def cluster():
    if reason := why_not():
        pytest.skip(reason)
    with one_node_cluster() as folder:
        yield folder


def results(checkout: Checkout) -> dict[str, bytes]:
    """Relative path -> content of every result; benchmarks are times."""
    folder = checkout.path / "smoke/results"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "benchmarks" not in path.parts
    }


def cancel_training(checkout: Checkout, run: subprocess.Popen) -> str:
    """Cancel the job of the group `train` once it has made something; returns its id."""
    trained = checkout.path / "smoke/results/train/finite"
    while run.poll() is None:
        jobs = [job for job, comment in running_jobs().items() if "train_finite" in comment]
        if jobs and any(trained.rglob("*.npz")):
            cancel(jobs[0])
            return jobs[0]
        time.sleep(0.2)
    raise AssertionError("the run ended before its training could be cancelled")


@pytest.mark.slow
def test_cluster_run_survives_a_cancelled_job_and_gives_the_bytes_of_a_local_run(
    cluster, fresh, tmp_path
):
    log = tmp_path / "slurm.log"
    with log.open("w") as stream:
        run = subprocess.Popen(
            [SNAKEMAKE, *SMOKE, *PROFILE, *HERE, TARGET],
            cwd=fresh.path,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        try:
            job = cancel_training(fresh, run)
            assert run.wait(600) == 0, log.read_text()
        finally:
            run.kill()
            # What ran inside a cancelled job may outlive it, whatever SLURM knows of it.
            subprocess.run(["pkill", "-KILL", "-f", re.escape(str(fresh.path))])
    text = log.read_text()
    assert re.search(rf"JOB {job} ON \S+ CANCELLED", text)
    assert "Trying to restart" in text

    local = Checkout(tmp_path / "local")
    local.path.mkdir()
    copy_tree(local.path)
    done = local.snakemake(TARGET, *SMOKE)
    assert done.returncode == 0, done.stderr
    assert results(fresh) == results(local)
    assert fresh.plan(TARGET, *SMOKE).empty
