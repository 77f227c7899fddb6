"""Helpers of the rules: settings as one canonical param, code hashes, wildcard constraints.

REQUIRED INPUTS  config.yaml, workflow/schemas/config.schema.yaml
OUTPUTS          none: no rule is defined here
"""

import math
import os
import shlex

import yaml
from snakemake.utils import update_config

sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "src")]

from lib import code_hash as hashing
from lib.failures import failures
from lib.grids import finite_paths, infinite_paths, models, of_case
from lib.records import unrecorded
from lib.scheduling import lift_default_rate_limit
from lib.settings import canonical, checked
from largeprompt.errors import InputError

# In a module of another workflow `config` is what that one passes, and config.yaml was not read.
IN_MODULE = workflow.modifier.namespace is not None
if IN_MODULE:
    passed, config = config, yaml.safe_load((ROOT / "config.yaml").read_text())
    update_config(config, passed)

try:
    config = checked(config, ROOT / "workflow/schemas/config.schema.yaml")
except InputError as error:
    sys.exit(str(error))

# `python` in a shell line is the one that runs Snakemake, whether its venv is activated or not.
# The hash of the whole configuration is provenance only: here it is no param and reruns nothing.
shell.prefix(
    f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH "
    f"PYTHONPATH={shlex.quote(str(ROOT / 'src'))} "
    f"LARGEPROMPT_CONFIG_HASH={hashing.text_hash(canonical(config))}; "
)


wildcard_constraints:
    law=r"[a-z]+",
    covariance=r"[a-z][a-z0-9-]*",
    attention=r"softmax|linear",
    variant=r"as-stated|as-coded",
    start=r"random|theorem",
    L=r"[1-9]\d*",
    seed=r"\d+",
    grid="|".join(config["grids"]),


def settings(*keys, **extra):
    """The settings at the dotted `keys`, and `extra`, as one canonical param.

    A rule lists every key that its output depends on; nothing else of the config reaches its stage.
    """
    chosen = {"run": config["run"]["label"], **extra}
    for section, _, key in (k.partition(".") for k in keys):
        chosen.setdefault(section, {})[key] = config[section][key]
    return canonical(chosen)


def code(*modules):
    """Hash of the package code that `modules` (below largeprompt) import."""
    return "-".join(
        hashing.code_hash(ROOT / "src", f"largeprompt.{m}") for m in modules
    )


def covariance_of(wildcards):
    """The config entry of the covariance that the wildcards name."""
    return config["covariances"][wildcards.covariance]


CELL = "variant={variant}/covariance={covariance}/start={start}"
PAIR = f"{CELL}/L={{L}}/seed={{seed}}"
FINITE = f"attention={{attention}}/{PAIR}"
INFINITE = f"{CELL}/seed={{seed}}"
REGRESSION_KEYS = [
    "regression.dimension",
    "regression.noise_variance",
    "regression.task_variance",
]
SGD_KEYS = REGRESSION_KEYS + [
    "sgd.trainer",
    "sgd.batch_size",
    "sgd.learning_rate",
    "sgd.steps",
    "sgd.loss_every",
    "sgd.save_every",
    "sgd.checkpoint_every",
]


def evaluated(experiment, suffix):
    """The files of a token experiment, one for each of its laws."""
    return expand(
        f"results/evaluate/{experiment}/law={{law}}/covariance={{covariance}}/seed={{seed}}.{suffix}",
        law=config[experiment]["laws"],
        covariance=config[experiment]["covariance"],
        seed=config["tokens"]["seed"],
    )


def in_repository(pattern, **names):
    """Paths of files of the repository, relative to the folder that the run writes into."""
    return expand(os.path.relpath(ROOT / pattern), **names)
