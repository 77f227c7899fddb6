"""The Dockerfile: read by its linter where there is one, and held to what README.md promises."""

import re
import shutil
import subprocess

import pytest
from checkouts import ROOT

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_linter_finds_nothing():
    linter = shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run(
        [linter, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_image_is_pinned_runs_without_privileges_and_makes_both_commands():
    (image,) = re.findall(r"^FROM (\S+)$", TEXT, re.M)
    assert re.fullmatch(r"python:3\.1[1-3]\.\d+-slim-\w+(@sha256:[0-9a-f]{64})?", image)
    users = re.findall(r"^USER (\S+)$", TEXT, re.M)
    assert users
    assert users[-1] not in ("root", "0")
    assert re.findall(r"^CMD (.*)$", TEXT, re.M) == ['["bash", "-c", "make && make test"]']


def test_nothing_made_here_enters_the_image():
    left = {line.strip("/") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    assert {".git", ".venv", ".snakemake", "results", "figures", "logs", "smoke", "dist"} <= left
