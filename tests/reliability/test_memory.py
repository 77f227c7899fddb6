"""Memory of the jobs that hold whole prompts: a million tokens fit into 2 GiB, more is refused."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import ROOT

from largeprompt.errors import InputError
from lib.settings import checked

SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
MILLION = 1_000_000
LIMIT_GIB = 2.0
LENGTHS = {"short": 1000, "million": MILLION}
AR1 = {"kind": "autoregressive", "rho": 0.5}
TASK = {"dimension": 5, "noise_variance": 0.1, "task_variance": 0.2}
SGD = {"trainer": "fast", "batch_size": 16, "learning_rate": 0.01, "steps": 10, "loss_every": 10,
       "save_every": 10, "checkpoint_every": 10}  # fmt: skip
CASE = {"variant": "as-stated", "covariance": "ar1"}
# Runs a stage, then prints the most memory that it held, in KiB.
MEASURE = (
    "import resource, sys; from largeprompt.__main__ import main; code = main(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); sys.exit(code)"
)


class Stages:
    """Runs stages on files in one directory and keeps the peak of each, in GiB."""

    def __init__(self, place: Path) -> None:
        self.place, self.peak = place, {}

    def __call__(self, stage: str, settings: dict[str, Any], instance: dict[str, Any],
                 inputs: dict[str, list[str]], outputs: dict[str, str]) -> None:  # fmt: skip
        words = [stage, "--settings", json.dumps(settings), "--set"]
        words += [f"{k}={v}" for k, v in instance.items()] or ["none=none"]
        for name, files in inputs.items():
            words += ["--in", name, *files]
        for name, file in outputs.items():
            words += ["--out", name, file]
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, *words],
            cwd=self.place,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        self.peak[stage] = int(done.stdout.splitlines()[-1]) / 2**20


def _tokens(run: Stages, L: int) -> None:
    """Eight prompts; every fewer-token prompt is one of these cut short."""
    settings = {"tokens": {"dimension": 3, "prompts": 8, "max_length": L, "queries": 4}}
    instance = {"law": "gaussian", "covariance": "ar1", "seed": 1}
    common = {"covariance": AR1}
    run("generate_tokens", settings | common, instance, {}, {"tokens": "tokens.npz"})
    lengths, tokens = [1, 10, 100, L], {"tokens": ["tokens.npz"]}
    chosen = {"score_scale": 0.4, "lengths": lengths, "sigmas": [1.0, 2.0]}
    run("evaluate_operator_limit", {"operator_limit": chosen} | common, instance, tokens,
        {"table": "limit.csv"})  # fmt: skip
    run("evaluate_output_error", {"output_error": chosen} | common, instance, tokens,
        {"errors": "errors.npz"})  # fmt: skip


def _prompts(run: Stages, L: int) -> None:
    data = {"regression": {**TASK, "max_length": L, "test_prompts": 8}, "covariance": AR1}
    run("generate_prompts", data, CASE | {"seed": 1}, {}, {"prompts": "prompts.npz"})
    task = {"regression": TASK, "covariance": AR1}
    run("draw_weights", {"regression": TASK}, {"start": "random", "seed": 1}, {},
        {"weights": "weights.npz"})  # fmt: skip
    for attention in ("softmax", "linear"):
        instance = CASE | {"attention": attention, "start": "random", "L": L, "seed": 1}
        outputs = {"training": f"{attention}.npz", "checkpoint": "checkpoint"}
        run("train_finite", task | {"sgd": SGD}, instance, {"weights": ["weights.npz"]}, outputs)
    outputs = {"training": "infinite.npz", "checkpoint": "checkpoint"}
    instance = CASE | {"start": "random", "seed": 1}
    run("train_infinite", task | {"sgd": SGD}, instance, {"weights": ["weights.npz"]}, outputs)
    trained = {"finite": ["softmax.npz", "linear.npz"], "infinite": ["infinite.npz"]}
    run("evaluate_test_loss", task, CASE, {"prompts": ["prompts.npz"]} | trained,
        {"table": "loss.csv"})  # fmt: skip


def _literal(run: Stages, L: int) -> None:
    run("draw_weights", {"regression": TASK}, {"start": "random", "seed": 1}, {},
        {"weights": "weights.npz"})  # fmt: skip
    settings = {"regression": TASK, "covariance": AR1}
    settings["sgd"] = SGD | {"trainer": "literal", "steps": 2, "loss_every": 2, "save_every": 2}
    settings["sgd"]["batch_size"] = 8
    instance = CASE | {"attention": "softmax", "start": "random", "L": L, "seed": 1}
    outputs = {"training": "softmax.npz", "checkpoint": "checkpoint"}
    run("train_finite", settings, instance, {"weights": ["weights.npz"]}, outputs)


def _swap(run: Stages, L: int) -> None:
    swap = {"lengths": [L], "features": [16], "rows": [16], "batches": 2, "prompts": 4,
            "floor_features": [16], "floor_draws": 5, "seed": 1}  # fmt: skip
    settings = {"regression": TASK, "covariance": AR1, "kernel_swap": swap}
    run("summarise_kernel_swap", settings, {}, {}, {"table": "swap.csv"})


def _neighbours(run: Stages, L: int) -> None:
    settings = {
        "tokens": {"dimension": 3, "prompts": 8, "queries": 4},
        "operator_limit": {"lengths": [1, 10, 100, L], "score_scale": 0.4},
        "neighbours": {"correlations": [0.5], "mixture_mean": 1.5, "seed": 1},
        "covariance": AR1,
    }
    run("evaluate_operator_neighbours", settings, {}, {}, {"table": "neighbours.csv"})


@pytest.mark.slow
@pytest.mark.parametrize("chain", [_tokens, _prompts, _literal, _swap, _neighbours])
def test_a_million_tokens_fit(tmp_path, tally, chain: Callable[[Stages, int], None]):
    """What each job of the chain holds for a million tokens, and what that grows by."""
    tally("chains of jobs within 2 GiB for a million tokens")
    peaks = {}
    for name, L in LENGTHS.items():
        run = Stages(tmp_path)
        chain(run, L)
        peaks[name] = run.peak
    for stage, peak in peaks["million"].items():
        print(f"{stage}: {peaks['short'][stage]:.2f} GiB at L = 1000, {peak:.2f} at a million")
    assert max(peaks["million"].values()) < LIMIT_GIB, peaks


@pytest.fixture
def config() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def test_prompts_that_cannot_fit_are_refused_with_the_memory_they_would_take(config):
    config["regression"] |= {"test_prompts": MILLION, "max_length": MILLION}
    with pytest.raises(InputError, match=r"regression\.test_prompts = 1000000, .*1.79e\+05 GiB"):
        checked(config, SCHEMA)


def test_memory_that_the_user_has_is_used(config):
    config["regression"] |= {"test_prompts": 10000, "max_length": 10000}
    with pytest.raises(InputError, match=r"would take 18\.3 GiB, run\.memory_gib allows 2"):
        checked(config, SCHEMA)
    config["run"]["memory_gib"] = 24
    checked(config, SCHEMA)


def test_literal_training_is_refused_where_its_batch_cannot_fit(config):
    config["regression"] |= {"max_length": 100000, "test_prompts": 8}
    checked(config, SCHEMA)
    config["sgd"] |= {"trainer": "literal", "batch_size": 1000}
    with pytest.raises(InputError, match=r"sgd\.batch_size = 1000"):
        checked(config, SCHEMA)
