"""Where a result comes from: inputs, configuration, versions, state of the checkout."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "torch", "pandas", "snakemake")


def provenance(inputs: Sequence[str]) -> dict[str, Any]:
    """Hash of the configuration and of each input, versions, git commit (or "no checkout").

    The workflow exports the hash of its configuration; a stage called by hand has none.
    """
    return {
        "config": os.environ.get("LARGEPROMPT_CONFIG_HASH", "none"),
        "inputs": {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in inputs},
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "git": _git_state(),
    }


def _git_state() -> str:
    """Commit, marked where tracked files differ from it; an archive names its own in COMMIT.

    The archive's word comes first: it may be unpacked inside somebody else's repository.
    """
    here = Path(__file__).parent
    archived = here.parents[2] / "COMMIT"
    if archived.exists():
        return f"archive of {archived.read_text(encoding='utf-8').strip()}"
    describe = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(describe, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no checkout"
