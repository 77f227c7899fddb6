"""Damaged inputs: the job that reads one stops, names the file, and writes nothing."""

import contextlib
import hashlib
import io
import json
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checkouts import SMOKE, Checkout
from reliability.runs import RESULTS

from largeprompt.__main__ import main
from largeprompt.tables import read_table


@dataclass(frozen=True)
class Reading:
    """One input of one job of the workflow, and the command of that job."""

    file: str
    words: tuple[str, ...]

    @property
    def stage(self) -> str:
        return self.words[0]


def _inputs(words: tuple[str, ...]) -> Iterator[str]:
    reading = False
    for before, word in zip(("", *words), words, strict=False):
        if word.startswith("--"):
            reading = word == "--in"
        elif reading and before != "--in":
            yield word


@pytest.fixture(scope="module")
def readings(finished_run) -> list[Reading]:
    """Every result that a job reads, for every job."""
    plan = Checkout(finished_run).snakemake("-n", "-p", "--forceall", *SMOKE)
    lines = [x for x in (plan.stdout + plan.stderr).splitlines() if "python -m largeprompt" in x]
    commands = {tuple(shlex.split(x.partition("-m largeprompt ")[2])) for x in lines}
    found = [Reading(file, words) for words in sorted(commands) for file in _inputs(words)]
    smoke = finished_run / "smoke"  # one job reads a directory of times, which are no result
    return [r for r in found if Path(r.file).parts[0] in RESULTS and (smoke / r.file).is_file()]


@pytest.fixture
def smoke(finished_run, tmp_path, monkeypatch) -> Path:
    """A copy of the results in which the commands run, below what they read of the repository."""
    path = tmp_path / "smoke"
    for name in RESULTS:
        shutil.copytree(finished_run / "smoke" / name, path / name)
    for name in ("workflow", "src", "DEVIATIONS.md"):
        (tmp_path / name).symlink_to(finished_run / name)
    monkeypatch.chdir(path)
    return path


def _run(reading: Reading) -> tuple[int, str, dict[str, bytes]]:
    """Exit code, what is printed, and the files written, by name of the output."""
    words, outputs = list(reading.words), {}
    for index, word in enumerate(reading.words):
        if word == "--out":
            name = reading.words[index + 1]
            outputs[name] = Path("written") / name
            words[index + 2] = str(outputs[name])
        elif word == "--log":
            words[index + 1] = "written/log"
    shutil.rmtree("written", ignore_errors=True)
    said = io.StringIO()
    with (
        contextlib.redirect_stderr(said),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        code = main(words)
    written = {name: path.read_bytes() for name, path in outputs.items() if path.exists()}
    return code, said.getvalue(), written


def _named(reading: Reading, outcome: tuple[int, str, dict[str, bytes]]) -> bool:
    code, said, written = outcome
    lines = [x for x in said.splitlines() if "error: " in x]
    return code == 1 and len(lines) == 1 and reading.file in lines[0] and not written


def _table_with(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> bytes:
    """The table at `path` after a change, signed anew so that its checksum is right."""
    table = read_table(path, [])
    changed = change(table)
    body = changed.to_csv(index=False, float_format="%.17g", lineterminator="\n").encode()
    head = f"# largeprompt run={table.attrs['run']} rows={len(changed)} "
    return f"{head}sha256={hashlib.sha256(body).hexdigest()}\n".encode() + body


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return dict(file)


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def truncated(path: Path) -> Iterator[bytes]:
    whole = path.read_bytes()
    yield whole[: len(whole) // 2]
    yield whole[:-2]


def emptied(path: Path) -> Iterator[bytes]:
    yield b""


def not_a_number(path: Path) -> Iterator[bytes]:
    """One entry of each column or array of numbers in turn."""
    if path.suffix == ".csv":
        for name in read_table(path, []).select_dtypes("number"):
            yield _table_with(path, lambda t, n=name: t.assign(**{n: ["nan", *t[n][1:]]}))
            yield _table_with(path, lambda t, n=name: t.assign(**{n: ["", *t[n][1:]]}))
    elif path.suffix == ".npz":
        arrays = _arrays(path)
        for name, value in arrays.items():
            if value.dtype.kind == "f":
                changed = value.copy()
                changed.flat[0] = np.nan
                yield _packed({**arrays, name: changed})
    elif path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        yield json.dumps({**content, "numbers": {"x": float("nan")}}).encode()


def of_another_run(path: Path) -> Iterator[bytes]:
    """The same content under the label of another run."""
    if path.suffix == ".csv":
        yield path.read_bytes().replace(b"run=smoke", b"run=full", 1)
    elif path.suffix == ".npz" and "run" in (arrays := _arrays(path)):
        yield _packed({**arrays, "run": np.array("full")})
    elif path.suffix == ".json":
        yield path.read_bytes().replace(b'"run": "smoke"', b'"run": "full"')


def of_another_instance(path: Path) -> Iterator[bytes]:
    """Each file of the same kind whose path differs in a wildcard, and each other verdict."""
    for other in sorted(Path("results").rglob(f"*{path.suffix}")):
        same_kind = [p.partition("=")[0] for p in path.parts] == [
            p.partition("=")[0] for p in other.parts
        ]
        verdict = path.suffix == ".json" and other.suffix == ".json"
        if other != path and (verdict or (same_kind and "=" in str(path))):
            yield other.read_bytes()


DAMAGES = [truncated, emptied, not_a_number, of_another_run, of_another_instance]


def _part(readings: list[Reading], part: str) -> list[Reading]:
    """The first reading of each stage, or all others."""
    first = {reading.stage: reading for reading in reversed(readings)}
    return [r for r in readings if (first[r.stage] == r) == (part == "sample")]


PARTS = ["sample", pytest.param("rest", marks=pytest.mark.slow)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
def test_damaged_file_is_named_by_the_job_that_reads_it(smoke, readings, tally, damage, part):
    tried, wrong = 0, []
    for reading in _part(readings, part):
        path = Path(reading.file)
        whole = path.read_bytes()
        for content in list(damage(path)):
            path.write_bytes(content)
            outcome = _run(reading)
            tried += 1
            if not _named(reading, outcome):
                wrong.append((reading.stage, reading.file, outcome[0], outcome[1][-300:]))
        path.write_bytes(whole)
    tally("damaged files caught", tried, len(wrong))
    assert tried
    assert wrong == []


@pytest.mark.parametrize("part", PARTS)
def test_missing_column_or_array_is_named_unless_nothing_needs_it(smoke, readings, tally, part):
    """Signed anew, so that the check of the columns itself must see it."""
    tried, wrong = 0, []
    for reading in _part(readings, part):
        path = Path(reading.file)
        whole, undisturbed = path.read_bytes(), None
        for name, content in list(_without_one(path)):
            path.write_bytes(content)
            outcome = _run(reading)
            tried += 1
            if outcome[0] == 0 and reading.stage == "write_report":
                fine = True  # it shows a table as it is, whatever its columns
            elif outcome[0] == 0:
                path.write_bytes(whole)
                undisturbed = undisturbed or _run(reading)[2]
                fine = _comparable(outcome[2]) == _comparable(undisturbed)
            else:
                fine = _named(reading, outcome) and name in outcome[1]
            if not fine:
                wrong.append((reading.stage, reading.file, name, outcome[1][-300:]))
        path.write_bytes(whole)
    tally("damaged files caught", tried, len(wrong))
    assert wrong == []


def _without_one(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".csv":
        for name in read_table(path, []):
            yield name, _table_with(path, lambda t, n=name: t.drop(columns=n))
    elif path.suffix == ".npz":
        arrays = _arrays(path)
        for name in arrays:
            yield name, _packed({k: v for k, v in arrays.items() if k != name})
    elif path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        for name in content:
            yield name, json.dumps({k: v for k, v in content.items() if k != name}).encode()


def _comparable(written: dict[str, bytes]) -> dict[str, bytes]:
    """A verdict holds the hashes of its inputs, which differ."""
    if "verdict" not in written:
        return written
    return {"verdict": json.dumps({**json.loads(written["verdict"]), "provenance": 0}).encode()}
