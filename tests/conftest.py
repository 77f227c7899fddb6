"""A finished smoke run, made once for all tests and workers, and copies of it to edit."""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from checkouts import SMOKE, Checkout, copy_tree
from filelock import FileLock


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Makes a directory of a name by a function, once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def made(name: str, make: Callable[[Path], None]) -> Path:
        path = shared / name
        with FileLock(shared / f"{name}.lock"):
            if not (shared / f"{name}.made").exists():
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
                make(path)
                (shared / f"{name}.made").touch()
        return path

    return made


def _smoke_run(path: Path) -> None:
    copy_tree(path)
    done = Checkout(path).snakemake(*SMOKE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def finished_run(once) -> Path:
    """A checkout with a finished smoke run; read only."""
    return once("finished run", _smoke_run)  # a space, as a user's path may have one


@pytest.fixture
def checkout(finished_run, tmp_path) -> Checkout:
    """A copy of the finished run, times kept, to edit."""
    path = tmp_path / "checkout"
    shutil.copytree(finished_run, path)
    return Checkout(path)


@pytest.fixture
def fresh(tmp_path) -> Checkout:
    """A checkout in which nothing has run."""
    path = tmp_path / "fresh"
    path.mkdir()
    copy_tree(path)
    return Checkout(path)


@pytest.fixture
def tally(record_property) -> Callable[..., None]:
    """Counts what a test of the reliability harness tried, and of these what went wrong."""
    return lambda kind, tried=1, wrong=0: record_property("tally", (kind, tried, wrong))


def pytest_terminal_summary(terminalreporter) -> None:
    """The counts of the reliability harness: kind, passed, tried."""
    tried, passed = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in getattr(report, "user_properties", ()):
                if name == "tally" and report.when == "call":
                    kind, number, wrong = value
                    tried[kind] += number
                    passed[kind] += number - max(wrong, outcome == "failed")
    if tried:
        terminalreporter.section("reliability")
    for kind, number in sorted(tried.items()):
        terminalreporter.write_line(f"{kind}: {passed[kind]}/{number}")
