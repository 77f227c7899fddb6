"""Copies of the repository in which to run snakemake."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ["Snakefile", "config.yaml", "smoke.yaml", "DEVIATIONS.md"]
FILES += ["requirements.lock", "CITATION.cff", "LICENSE"]
TREE = [*FILES, "workflow", "src", "profiles", "reference"]
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
SMOKE = ("--configfile", "smoke.yaml")


@dataclass(frozen=True)
class Plan:
    """What a dry run would do: jobs by rule, and the rules that are the cause of it."""

    jobs: Counter
    causes: frozenset[str]
    text: str

    @property
    def empty(self) -> bool:
        return not self.jobs


@dataclass(frozen=True)
class Checkout:
    """A copy of the repository in which to run snakemake."""

    path: Path

    def snakemake(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [SNAKEMAKE, *arguments],
            cwd=self.path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=900,
        )

    def plan(self, *arguments: str, **environment: str) -> Plan:
        """The plan of a dry run of the smoke configuration."""
        done = self.snakemake("-n", *(arguments or SMOKE), **environment)
        text = done.stdout + done.stderr
        assert done.returncode == 0, text
        return _parsed(text)

    def plan_with(self, settings: str) -> Plan:
        """The plan with settings (YAML) merged over the smoke configuration."""
        (self.path / "change.yaml").write_text(settings, encoding="utf-8")
        return self.plan(*SMOKE, "change.yaml")

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.path / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {file}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def append(self, file: str, text: str) -> None:
        with (self.path / file).open("a", encoding="utf-8") as stream:
            stream.write(text)


def _parsed(text: str) -> Plan:
    jobs, causes = Counter(), set()
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)*)", text, re.M):
        jobs[rule] += 1
        reason = re.search(r"reason: (.*)", block).group(1)
        if not reason.startswith("Input files updated by another job"):
            causes.add(rule)
    jobs.pop("all", None)
    return Plan(jobs, frozenset(causes - {"all"}), text)


def copy_tree(target: Path) -> None:
    """The files that a run needs, without what an earlier run left."""
    ignore = shutil.ignore_patterns("*.pyc", "*.egg-info")
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=ignore)
        else:
            shutil.copy2(source, target / name)
