"""Profiles for clusters: what they name exists, and the workflow can be planned with them."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from checkouts import SMOKE, Plan

ROOT = Path(__file__).parents[2]


def profile(name: str) -> dict:
    return yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text(encoding="utf-8"))


def planned_rules(plan: Plan) -> dict[str, str]:
    """Rule -> number of jobs, from the table that stands before the jobs."""
    table = re.search(r"^job +count\n[- ]+\n((?:\w+ +\d+\n)+)", plan.text, re.M).group(1)
    return dict(line.split() for line in table.splitlines())


def test_slurm_profile_keeps_the_settings_of_the_default_profile():
    default = profile("default")
    default.pop("cores")
    assert default.items() <= profile("slurm").items()


@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_whole_workflow_can_be_planned_with_a_cluster_profile(fresh, name):
    if not find_spec(f"snakemake_executor_plugin_{name}"):
        pytest.skip(f"snakemake-executor-plugin-{name} is not installed")
    planned = planned_rules(fresh.plan(*SMOKE, "--workflow-profile", f"profiles/{name}"))
    assert planned == planned_rules(fresh.plan(*SMOKE))
    named = [*profile(name).get("groups", {}), *profile(name).get("set-resources", {})]
    assert set(named) <= set(planned)


@pytest.mark.parametrize(("trainer", "asked"), [("literal-gpu", 1), ("literal", 0)])
def test_only_trainings_on_a_gpu_ask_for_one(fresh, trainer, asked):
    text = fresh.plan_with(f"sgd: {{trainer: {trainer}}}").text
    found = re.findall(r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    resources: (.*)$", text, re.M)
    gpus = {rule for rule, resources in found if "gpu=1" in resources}
    assert {rule for rule, _ in found} > {"train_finite", "train_infinite", "flow_finite"}
    assert gpus == ({"train_finite", "train_infinite"} if asked else set())


def test_what_speaks_to_the_user_runs_where_the_user_is():
    """On a cluster, what a job prints or writes beside its outputs would stay on its node."""
    blocks = [
        block
        for file in ROOT.glob("workflow/rules/*.smk")
        for block in re.split(r"^ *(?=rule\b)", file.read_text(encoding="utf-8"), flags=re.M)
        if block.startswith("rule") and "shell:" in block and "output:" not in block
    ]
    assert len(blocks) >= 4
    assert all("localrule: True" in block for block in blocks), blocks
