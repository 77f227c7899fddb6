"""`kill -9` of everything, at any moment: nothing half-written is believed, nothing comes out
different."""

import random
import shutil
import signal
import time

import pytest
from checkouts import Checkout
from reliability.runs import CONFIG, TARGETS, Run, differing, whole_files

# What must be there before the kill, and how many seconds it may come after that.
MOMENTS = {
    "training": ("logs/train_finite/**/*.log", 3.0),
    "writing": ("results/**/*.part", 0.0),
    "plotting": ("logs/plot_*.log", 1.5),
    "any": ("", 8.0),
}
KILLS, QUICK = 30, 3


def _killed(checkout: Checkout, moment: str, rng: random.Random) -> None:
    """Start, and kill the whole process group in the middle; sooner if it was too late."""
    pattern, latest = MOMENTS[moment]
    delay = rng.uniform(0, latest)
    while True:
        shutil.rmtree(checkout.path / "smoke", ignore_errors=True)
        run = Run(checkout)
        while run.poll() is None and pattern and not any(checkout.path.glob(f"smoke/{pattern}")):
            time.sleep(0.001)
        time.sleep(delay)
        running = run.poll() is None
        run.signal_group(signal.SIGKILL) if running else None
        run.wait()
        if running:
            return
        delay /= 2


def _finished(checkout: Checkout) -> None:
    """Run again as a user would, unlocking if asked to."""
    done = checkout.snakemake(*TARGETS, *CONFIG)
    if "--unlock" in done.stderr:
        assert done.returncode != 0
        assert checkout.snakemake("--unlock", *TARGETS, *CONFIG).returncode == 0
        done = checkout.snakemake(*TARGETS, *CONFIG)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=() if n < QUICK else pytest.mark.slow) for n in range(KILLS)]
)
def test_killed_run_ends_with_the_bytes_it_would_have_had(bare, undisturbed, tally, number):
    tally("kills survived")
    rng = random.Random(number)
    _killed(bare, list(MOMENTS)[number % len(MOMENTS)], rng)
    smoke = bare.path / "smoke"
    left = whole_files(smoke)
    assert differing(left, undisturbed) == []
    if number % 3 == 1:  # and the records are lost as well
        shutil.rmtree(smoke / ".snakemake", ignore_errors=True)
        refused = bare.snakemake(*TARGETS, *CONFIG) if left else None
        if refused is not None:
            assert refused.returncode != 0
            assert "has no records in .snakemake" in refused.stderr
            vouched = bare.snakemake("--touch", "--forceall", *TARGETS, *CONFIG)
            assert vouched.returncode == 0, vouched.stderr
    _finished(bare)
    files = whole_files(smoke)
    assert files.keys() == undisturbed.keys()
    assert differing(files, undisturbed) == []
