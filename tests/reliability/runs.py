"""A few jobs of the smoke run, started so that they can be killed, and their bytes compared."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from checkouts import SMOKE, SNAKEMAKE, Checkout, copy_tree

TRAINING = (
    "results/train/finite/attention=softmax/variant=as-stated/covariance=ar1/start=random/"
    "L=10/seed=327.npz"
)
FIGURE = "figures/effective_operator.pdf"
TARGETS = (
    TRAINING,
    "results/evaluate/default/ridge/variant=as-stated/covariance=ar1.csv",
    "results/claims/assumption-3.3.json",
    FIGURE,
)
# Training long enough to be hit, with many checkpoints, and by torch: the other trainer is compiled
# anew in every copy. Everything else is as in the smoke run.
LONGER = """
sgd: {trainer: literal, steps: 3000, learning_rate: 0.001, loss_every: 100, save_every: 500,
  checkpoint_every: 100}
"""
CONFIG = (*SMOKE, "longer.yaml")
RESULTS = ("results", "figures")


def prepared(path: Path) -> Checkout:
    """The directory as a checkout with the configuration of these runs."""
    copy_tree(path)
    (path / "longer.yaml").write_text(LONGER, encoding="utf-8")
    return Checkout(path)


class Run(subprocess.Popen):
    """snakemake on all targets, with its jobs, in a process group of its own."""

    def __init__(self, checkout: Checkout) -> None:
        self.log = checkout.path / f"run-{os.urandom(4).hex()}.log"
        with self.log.open("wb") as stream:
            super().__init__(
                [SNAKEMAKE, *TARGETS, *CONFIG],
                cwd=checkout.path,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Tests that a shell runs in the background inherit that it ignores interrupts.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def signal_group(self, number: signal.Signals) -> None:
        os.killpg(self.pid, number)

    def ended(self, seconds: float = 600) -> str:
        """What it printed, once it and all of its jobs are gone."""
        try:
            self.wait(seconds)
        finally:
            if self.poll() is None:
                self.signal_group(signal.SIGKILL)
                self.wait()
        return self.log.read_text(encoding="utf-8", errors="replace")


def whole_files(place: Path) -> dict[str, bytes]:
    """The results and figures below `place`, except what is not a result: times, work begun."""
    found = {}
    for part in RESULTS:
        for path in sorted((place / part).rglob("*")):
            name = str(path.relative_to(place))
            begun = path.suffix in (".part", ".checkpoint")
            if path.is_file() and not begun and "results/benchmarks" not in name:
                found[name] = path.read_bytes()
    return found


def differing(files: Mapping[str, bytes], reference: Mapping[str, bytes]) -> list[str]:
    """Names of `files` that are not, byte for byte, those of the reference."""
    return [name for name, content in files.items() if reference.get(name) != content]
