"""Entry of the workflow: `snakemake` makes every figure and decides every claim."""

import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")


# Every rule runs in the environment of requirements.lock; the image names its Python.
container: "docker://python:3.11-slim"


ROOT = Path(workflow.current_basedir)


configfile: str(ROOT / "config.yaml")


include: "workflow/rules/common.smk"


# As a module it works where the workflow that uses it does, which may say `prefix:`.
# From the folder of this file on: a job on a cluster starts in the run's folder and enters it anew.
if config["run"]["directory"] != "." and not IN_MODULE:

    workdir: str(ROOT / config["run"]["directory"])


if not os.access(Path.cwd(), os.W_OK):
    sys.exit(f"{Path.cwd()} cannot be written to: run elsewhere with --directory")
if unrecorded(Path.cwd()) and not IN_MODULE and "--touch" not in sys.argv:
    sys.exit(
        f"{Path.cwd()}/results has no records in .snakemake, so what is stale cannot be told: "
        "delete it (make clean), or vouch for it with `snakemake --touch --forceall`"
    )


report: "workflow/report/workflow.rst"


include: "workflow/rules/grids.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/evaluate_prompt_length.smk"
include: "workflow/rules/evaluate_kernel_swap.smk"
include: "workflow/rules/evaluate_neighbours.smk"
include: "workflow/rules/evaluate_operator.smk"
include: "workflow/rules/evaluate_concentration.smk"
include: "workflow/rules/evaluate_stability.smk"
include: "workflow/rules/evaluate_endpoint.smk"
include: "workflow/rules/evaluate_training.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/section6.smk"
include: "workflow/rules/verify.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/artifact.smk"


rule all:
    default_target: True
    input:
        rules.figures.input,
        rules.claims.input,
        rules.report.output,
        sgd_runs("default"),
        flows("default"),


onstart:
    lift_default_rate_limit(workflow.scheduler)


onerror:
    for line in failures(map(Path, log)):
        print(line, file=sys.stderr)
