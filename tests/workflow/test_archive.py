"""The submission: complete, the same bytes each time, and alive without git."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from checkouts import ROOT, SMOKE, SNAKEMAKE

from largeprompt.errors import InputError
from lib.archive import write_archive

# Not what a run or an installation left.
LEFT = ["results", "figures", "logs", "smoke", "dist", "COMMIT", "submitted", "SHA256SUMS"]
IDENTITY = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
AUTHOR = "largeprompt developers"


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """This tree, committed, with a figure that a run left."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = tmp_path_factory.mktemp("repository")
    hidden = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".snakemake", "__pycache__")
    for path in ROOT.iterdir():
        if path.name in LEFT or hidden("", [path.name]):
            continue
        if path.is_dir():
            shutil.copytree(path, root / path.name, ignore=hidden)
        else:
            shutil.copy2(path, root / path.name)
    (root / "figures").mkdir()
    (root / "figures/one.pdf").write_bytes(b"%PDF")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all", "--date=2026-12-01T00:00:00Z")
    return root


def unpacked(archive: Path, target: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
    (root,) = target.iterdir()
    return root


def test_archive_holds_source_figures_and_right_checksums(repository, tmp_path):
    root = unpacked(write_archive(repository), tmp_path)
    assert root.name == write_archive(repository).name.removesuffix(".tar.gz")
    for name in ("Makefile", "Snakefile", "reference/headline.csv", "submitted/figures/one.pdf"):
        assert (root / name).is_file()
    assert os.access(root / ".ci/run", os.X_OK) == os.access(ROOT / ".ci/run", os.X_OK)
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=root, check=False).returncode == 0
    listed = {x.split("  ")[1] for x in (root / "SHA256SUMS").read_text().splitlines()}
    files = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()}
    assert listed == files - {"SHA256SUMS"}


@pytest.mark.parametrize("anonymous", [False, True])
def test_archive_of_a_commit_has_the_same_bytes_each_time(repository, anonymous):
    first = write_archive(repository, anonymous).read_bytes()
    os.utime(repository / "figures/one.pdf")
    assert write_archive(repository, anonymous).read_bytes() == first


def test_anonymous_archive_names_nobody(repository, tmp_path):
    root = unpacked(write_archive(repository, anonymous=True), tmp_path)
    naming = [p for p in root.rglob("*") if p.is_file() and AUTHOR.encode() in p.read_bytes()]
    # This test holds the name it looks for, rewritten in the archive like every other.
    assert not naming
    assert "Anonymous authors" in (root / "LICENSE").read_text()
    assert "withheld" in (root / "COMMIT").read_text()
    named = unpacked(write_archive(repository), tmp_path / "named")
    assert AUTHOR in (named / "LICENSE").read_text()


def test_edited_tree_is_not_archived(repository):
    file = repository / "config.yaml"
    text = file.read_text()
    file.write_text(text + "# edited\n")
    try:
        with pytest.raises(InputError, match="differ from the commit"):
            write_archive(repository)
    finally:
        file.write_text(text)


def test_unpacked_archive_plans_tests_and_knows_its_commit(repository, tmp_path):
    root = unpacked(write_archive(repository), tmp_path)
    assert not (root / ".git").exists()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_XDIST")}
    environment["PYTHONPATH"] = str(root / "src")

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "train_finite" in run(str(SNAKEMAKE), "-n")
    run(str(SNAKEMAKE), "results/claims/assumption-3.3.json", *SMOKE)
    verdict = (root / "smoke/results/claims/assumption-3.3.json").read_text()
    assert f"archive of {(root / 'COMMIT').read_text().strip()}" in verdict
    subset = ["tests/unit/test_tables.py", "tests/unit/test_bounds.py", "tests/claims"]
    assert "100%" in run(sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *subset)
