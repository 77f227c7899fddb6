"""Results on disk: written aside and renamed, checked for completeness whenever they are read.

A table is a CSV file whose first line states the run it belongs to, its number of rows and the
SHA-256 of everything below that line; arrays are `.npz` files that never hold pickles. A reader
that finds a damaged file names it and says what to do.
"""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.errors import InputError

_HEADER = re.compile(r"# largeprompt run=(\S+) rows=(\d+) sha256=([0-9a-f]{64})\n")


def write_whole(path: str | Path, content: bytes) -> None:
    """Write `content` beside `path`, then rename: a reader sees the whole file or none."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _damaged(path: str | Path, why: str) -> InputError:
    return InputError(f"{path}: {why}; delete this file and rerun snakemake")


def write_table(path: str | Path, table: pd.DataFrame, run: str) -> None:
    """Write a tidy table of the run labelled `run` ("full", "smoke", ...).

    Raises ValueError if the table is empty or holds a value that is not a number in a numeric
    column: a NaN must stop the job that made it, not the one that draws it.
    """
    if table.empty:
        raise ValueError(f"{path}: refusing to write an empty table")
    numeric = table.select_dtypes("number")
    bad = [c for c in numeric if numeric[c].isna().any()]
    if bad:
        raise ValueError(f"{path}: not a number in column {', '.join(bad)}")
    body = table.to_csv(index=False, float_format="%.17g", lineterminator="\n").encode()
    digest = hashlib.sha256(body).hexdigest()
    header = f"# largeprompt run={run} rows={len(table)} sha256={digest}\n"
    write_whole(path, header.encode() + body)


def read_table(path: str | Path, columns: Iterable[str]) -> pd.DataFrame:
    """Read a table; `.attrs["run"]` is the label of the run that wrote it.

    Raises InputError if the file is missing, cut short, altered, or lacks one of `columns`.
    """
    try:
        header, body = Path(path).read_bytes().split(b"\n", 1)
    except FileNotFoundError:
        raise _damaged(path, "file is missing") from None
    except ValueError:
        raise _damaged(path, "file is empty or cut short") from None
    match = _HEADER.fullmatch(header.decode(errors="replace") + "\n")
    if match is None:
        raise _damaged(path, "first line is not a largeprompt table header")
    run, rows, digest = match.groups()
    if hashlib.sha256(body).hexdigest() != digest:
        raise _damaged(path, "content does not match its checksum (cut short or edited)")
    table = pd.read_csv(io.BytesIO(body), keep_default_na=False)
    if len(table) != int(rows):
        raise _damaged(path, f"has {len(table)} rows, not {rows}")
    missing = [c for c in columns if c not in table]
    if missing:
        raise _damaged(path, f"column {', '.join(missing)} is missing")
    table.attrs["run"] = run
    return table


def write_arrays(path: str | Path, **arrays: Any) -> None:
    """Write named arrays (numbers or strings) as `.npz`; the same arrays give the same bytes."""
    converted = {name: np.asarray(value) for name, value in arrays.items()}
    for name, value in converted.items():
        if value.dtype.hasobject:
            raise ValueError(f"{path}: array {name} holds objects, which would need a pickle")
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **converted)
    write_whole(path, buffer.getvalue())


def read_arrays(path: str | Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Read the arrays `names` from an `.npz` file, never a pickle.

    Raises InputError if the file is missing, damaged, or lacks an array.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            missing = [n for n in names if n not in file.files]
            if missing:
                raise _damaged(path, f"array {', '.join(missing)} is missing")
            return {n: file[n] for n in names}
    except FileNotFoundError:
        raise _damaged(path, "file is missing") from None
    except InputError:
        raise
    except (zipfile.BadZipFile, TypeError, ValueError, OSError, EOFError) as error:
        raise _damaged(path, f"not a whole .npz file ({error})") from None


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write `content` as JSON with sorted keys; NaN and infinity are refused (ValueError)."""
    text = json.dumps(content, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)
    write_whole(path, (text + "\n").encode())


def read_json(path: str | Path, keys: Iterable[str]) -> dict[str, Any]:
    """Read a JSON object that holds `keys`. Raises InputError if it is missing or damaged."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _damaged(path, "file is missing") from None
    except ValueError as error:
        raise _damaged(path, f"not valid JSON ({error})") from None
    missing = [k for k in keys if k not in content]
    if missing:
        raise _damaged(path, f"key {', '.join(missing)} is missing")
    return content
