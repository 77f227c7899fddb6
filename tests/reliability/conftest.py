"""What the tests of the harness share: a copy in which to run, and what a run must come to."""

from pathlib import Path

import pytest
from checkouts import Checkout
from reliability.runs import Run, prepared, whole_files


@pytest.fixture
def bare(tmp_path) -> Checkout:
    """A checkout in which nothing has run."""
    path = tmp_path / "bare"
    path.mkdir()
    return prepared(path)


def _whole_run(path: Path) -> None:
    run = Run(prepared(path))
    text = run.ended()
    assert run.returncode == 0, text


@pytest.fixture(scope="session")
def undisturbed(once) -> dict[str, bytes]:
    """The files of a run that nothing disturbed."""
    return whole_files(once("undisturbed", _whole_run) / "smoke")
