"""The submission as one file that needs no git: source, reference results, figures, checksums.

python -m lib.archive ROOT [--anonymous] writes ROOT/dist/largeprompt-VERSION[-anonymous].tar.gz.
The same commit and figures give the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import yaml

from largeprompt.errors import InputError
from largeprompt.tables import write_whole

_MADE = {"figures": "submitted/figures", "results/report": "submitted/report"}
_ANONYMOUS = b"Anonymous authors"


def write_archive(root: Path, anonymous: bool = False) -> Path:
    """Write the archive of the current commit of `root` with the figures and report found there.

    Raises InputError if tracked files differ from the commit or, for an anonymous archive, if an
    author's name remains in a file.
    """
    if _git(root, "status", "--porcelain", "--untracked-files=no"):
        raise InputError("tracked files differ from the commit; commit or restore them first")
    files = _tracked(root) | _made(root)
    commit = _git(root, "describe", "--always", "--abbrev=12").decode().strip()
    files["COMMIT"] = (f"{commit}\n".encode(), False)
    version = tomllib.loads(files["pyproject.toml"][0].decode())["project"]["version"]
    name = f"largeprompt-{version}"
    if anonymous:
        files = _without_names(files)
        name += "-anonymous"
    files["SHA256SUMS"] = (_checksums(files), False)
    time = int(_git(root, "log", "-1", "--format=%ct"))
    target = root / "dist" / f"{name}.tar.gz"
    write_whole(target, gzip.compress(_tar(files, name, time), mtime=0))
    return target


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, check=True
    ).stdout


def _tracked(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Path -> (content, executable) of every file of the commit."""
    with tarfile.open(fileobj=io.BytesIO(_git(root, "archive", "HEAD"))) as tar:
        members = [member for member in tar.getmembers() if member.isfile()]
        return {m.name: (tar.extractfile(m).read(), bool(m.mode & 0o100)) for m in members}


def _made(root: Path) -> dict[str, tuple[bytes, bool]]:
    """What a run left, out of the way of a run of the archive."""
    return {
        f"{target}/{path.relative_to(root / source)}": (path.read_bytes(), False)
        for source, target in _MADE.items()
        for path in (root / source).rglob("*")
        if path.is_file()
    }


def _without_names(files: dict[str, tuple[bytes, bool]]) -> dict[str, tuple[bytes, bool]]:
    """Every author of CITATION.cff replaced, links to the repository and the commit left out."""
    citation = yaml.safe_load(files["CITATION.cff"][0])
    names = sorted(_names(citation["authors"]), key=len, reverse=True)
    links = [citation[key] for key in ("repository-code", "url") if key in citation]
    changed = {}
    for path, (content, executable) in files.items():
        for name in names:
            content = content.replace(name.encode(), _ANONYMOUS)
        for link in links:
            content = content.replace(link.encode(), b"https://example.org/withheld")
        if any(word.encode() in content for word in (*names, *links)):
            raise InputError(f"{path}: still names an author")
        changed[path] = (content, executable)
    changed["COMMIT"] = (b"a commit withheld for review\n", False)
    return changed


def _names(authors: list[dict[str, str]]) -> set[str]:
    """Full names, and the parts of a person's."""
    keys = ("name", "family-names", "given-names", "orcid", "email", "affiliation")
    found = {author[key] for author in authors for key in keys if key in author}
    return found | {
        f"{a['given-names']} {a['family-names']}" for a in authors if "family-names" in a
    }


def _checksums(files: dict[str, tuple[bytes, bool]]) -> bytes:
    """For `sha256sum --check SHA256SUMS`."""
    lines = [f"{hashlib.sha256(files[name][0]).hexdigest()}  {name}\n" for name in sorted(files)]
    return "".join(lines).encode()


def _tar(files: dict[str, tuple[bytes, bool]], name: str, time: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files):
            content, executable = files[path]
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size, member.mtime = len(content), time
            member.mode = 0o755 if executable else 0o644
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def main() -> None:
    """Write the archive and say where it is."""
    parser = argparse.ArgumentParser(prog="lib.archive", description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--anonymous", action="store_true", help="leave the authors out")
    args = parser.parse_args()
    try:
        print(write_archive(args.root.resolve(), args.anonymous))
    except InputError as error:
        sys.exit(f"archive: error: {error}")


if __name__ == "__main__":
    main()
