"""`python -m largeprompt STAGE ...`: the command that every rule of the workflow calls."""

import argparse
import importlib
import json
import os
import pkgutil
import sys
import time
import traceback
from pathlib import Path

from largeprompt import stages
from largeprompt.errors import InputError
from largeprompt.stages._inputs import check_inputs
from largeprompt.stages._job import Job

SECONDS_BETWEEN_PROGRESS_LINES = 10


def _stage_names() -> list[str]:
    return sorted(
        m.name for m in pkgutil.iter_modules(stages.__path__) if not m.name.startswith("_")
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="largeprompt", description=__doc__)
    parser.add_argument("stage", choices=_stage_names())
    parser.add_argument("--settings", default="{}", help="JSON object; its key run labels the run")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="wildcards")
    parser.add_argument("--in", nargs="+", action="append", default=[], dest="inputs")
    parser.add_argument("--out", nargs=2, action="append", default=[], dest="outputs")
    parser.add_argument("--code", default="", help="hash of the code, for stages that resume")
    parser.add_argument("--log", help="file that keeps progress lines and tracebacks")
    return parser


class _Reporter:
    """Writes to the log at once and to the terminal now and then."""

    def __init__(self, prefix: str, log: str | None):
        self.prefix = prefix
        self.shown = time.monotonic()
        if log:
            Path(log).parent.mkdir(parents=True, exist_ok=True)
        self.log = open(log or os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    def progress(self, line: str) -> None:
        now = time.monotonic()
        if now - self.shown >= SECONDS_BETWEEN_PROGRESS_LINES:
            self.shown = now
            self.say(line)

    def say(self, line: str) -> None:
        print(f"{self.prefix}: {line}", file=sys.stderr, flush=True)
        print(line, file=self.log, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run one stage; 0 if it wrote its outputs, 1 after one line that says why it did not."""
    args = _parser().parse_args(arguments)
    # One thread a job, however the command is called: sums then have one order everywhere.
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ["MPLBACKEND"] = "agg"  # figures go to files, whatever the user's own choice
    settings = json.loads(args.settings)
    run = settings.pop("run", None)
    wildcards = dict(pair.split("=", 1) for pair in args.set)
    instance = " ".join(f"{k}={v}" for k, v in wildcards.items())
    reporter = _Reporter(f"{args.stage} {instance}".strip(), args.log)
    job = Job(
        stage=args.stage,
        run=run or "full",
        settings=settings,
        code=args.code,
        wildcards=wildcards,
        inputs={name: paths for name, *paths in args.inputs},
        outputs=dict(args.outputs),
        progress=reporter.progress,
    )
    with reporter.log:
        return _outcome(job, run, reporter)


def _outcome(job: Job, run: str | None, reporter: _Reporter) -> int:
    try:
        check_inputs(job.inputs, run)
        importlib.import_module(f"largeprompt.stages.{job.stage}").run(job)
    except InputError as error:
        reporter.say(f"error: {error}")
        return 1
    except Exception as error:
        traceback.print_exc(file=reporter.log)
        reporter.say(f"bug: {type(error).__name__}: {error}; traceback in {reporter.log.name}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
