"""Helpers of the rules: settings as one canonical param, code hashes, wildcard constraints.

REQUIRED INPUTS  config.yaml, workflow/schemas/config.schema.yaml
OUTPUTS          none: no rule is defined here
"""

import shlex

sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "src")]

from lib import code_hash as hashing
from lib.settings import canonical, checked
from largeprompt.errors import InputError

# `python` in a shell line is the one that runs Snakemake, whether its venv is activated or not.
shell.prefix(
    f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH "
    f"PYTHONPATH={shlex.quote(str(ROOT / 'src'))}; "
)

try:
    config = checked(config, ROOT / "workflow/schemas/config.schema.yaml")
except InputError as error:
    sys.exit(str(error))


wildcard_constraints:
    law=r"[a-z]+",
    covariance=r"[a-z][a-z0-9-]*",
    attention=r"softmax|linear",
    variant=r"as-stated|as-coded",
    start=r"random|theorem",
    L=r"[1-9]\d*",
    seed=r"\d+",
    claim=r"[a-z0-9.-]+",


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
    return "-".join(hashing.code_hash(ROOT / "src", f"largeprompt.{m}") for m in modules)


def covariance_of(wildcards):
    """The config entry of the covariance that the wildcards name."""
    return config["covariances"][wildcards.covariance]
