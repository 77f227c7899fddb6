"""Inner loops compiled by numba.

Compiling them takes longer than many a training, so the machine code is kept between processes.
numba takes it for fresh while the file that defines a function is unchanged, yet functions of
other files are compiled into it; so it is kept in a folder named by a hash of this package.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from numba import config, njit

_HERE = Path(__file__).parent


def code_digest(folder: Path = _HERE) -> str:
    """Hash of the names and contents of the Python files in `folder`."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder(places: list[Path]) -> Path | None:
    """The first folder below `places` that can be written to, named by the code; else None."""
    for place in places:
        folder = place / f"numba-{code_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


def _places() -> list[Path]:
    if config.CACHE_DIR:  # the environment's NUMBA_CACHE_DIR
        return [Path(config.CACHE_DIR)]
    user = Path(os.path.expanduser("~/.cache/largeprompt"))  # stays relative without a home
    return [_HERE / "__pycache__", *([user] if user.is_absolute() else [])]


_CACHE = cache_folder(_places())


def compiled(function: Callable) -> Callable:
    """Compile with sums in any order; a NaN stays one, so that divergence is seen."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(_CACHE or "")
    try:
        flags = {"contract", "reassoc", "nsz"}
        return njit(cache=_CACHE is not None, fastmath=flags, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
