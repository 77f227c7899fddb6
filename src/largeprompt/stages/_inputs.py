"""Checks of a job's inputs that need no knowledge of the stage that reads them.

A file is refused if it is damaged, holds a value that is not a number, belongs to another run, or
to another instance than its path says (`L=10` in the path of a file that holds L = 20). What a
stage needs of a file, its columns and arrays, the stage asks for itself.
"""

import json
import zipfile
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

import numpy as np

from largeprompt.errors import InputError
from largeprompt.tables import read_arrays, read_json, read_table

_NO_NUMBER = ("", "nan")  # as the cell of a table
_END_OF_PNG = b"IEND\xaeB`\x82"


def check_inputs(inputs: Mapping[str, Iterable[str]], run: str | None) -> None:
    """Raises InputError, which names the file, unless every input is as it should be.

    `run` is the label of the run that the files must belong to; None takes any.
    """
    readers = {
        **{".npz": _texts_of_arrays, ".csv": _texts_of_table, ".json": _texts_of_json},
        ".png": _texts_of_image,
    }
    for path in (path for paths in inputs.values() for path in paths):
        wanted = _labels_in(path) | ({} if run is None else {"run": run})
        read = readers.get(Path(path).suffix)
        found = read(path, wanted) if read else {}
        for name in wanted.keys() & found.keys():
            if set(map(_meant, found[name])) != {_meant(wanted[name])}:
                held = ", ".join(sorted(found[name]))
                raise _refusal(path, f"holds {name} = {held}, not {wanted[name]}")


def _labels_in(path: str) -> dict[str, str]:
    """The `name=value` parts of a path; a verdict lies in the file that its id names."""
    whole = Path(path)
    labels = dict(part.split("=", 1) for part in whole.with_suffix("").parts if "=" in part)
    return labels | ({"id": whole.stem} if whole.suffix == ".json" else {})


def _meant(text: str) -> str | float:
    """What a label means: 1e+06 is 1000000."""
    try:
        return float(text)
    except ValueError:
        return text


def _refusal(path: str, why: str) -> InputError:
    return InputError(f"{path}: {why}; delete this file and rerun snakemake")


def _texts_of_arrays(path: str, names: Container[str]) -> dict[str, set[str]]:
    read_arrays(path, [])  # says in one line what is no .npz file
    with zipfile.ZipFile(path) as file:
        held = [name.removesuffix(".npy") for name in file.namelist()]
    found = {}
    for name in held:  # one at a time: together they may fill the memory
        value = read_arrays(path, [name])[name]
        if value.dtype.kind == "f" and np.isnan(value).any():
            raise _refusal(path, f"array {name} holds a value that is not a number")
        if name in names:
            found[name] = set(value.astype(str).ravel())
    return found


def _texts_of_table(path: str, names: Container[str]) -> dict[str, set[str]]:
    table = read_table(path, [])
    for name in table.select_dtypes(exclude=["number", "bool"]):
        if table[name].astype(str).str.lower().isin(_NO_NUMBER).any():
            raise _refusal(path, f"column {name} holds a value that is not a number")
    labels = {str(name): set(table[name].astype(str)) for name in table if name in names}
    return labels | {"run": {table.attrs["run"]}}


def _texts_of_json(path: str, names: Container[str]) -> dict[str, set[str]]:
    content = read_json(path, [])
    if not isinstance(content, dict):
        raise _refusal(path, "not a JSON object")
    try:
        json.dumps(content, allow_nan=False)
    except ValueError:
        raise _refusal(path, "holds a value that is not a number") from None
    return {name: {str(content[name])} for name in content if name in names}


def _texts_of_image(path: str, names: Container[str]) -> dict[str, set[str]]:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise _refusal(path, "file is missing") from None
    if not (content.startswith(b"\x89PNG\r\n") and content.endswith(_END_OF_PNG)):
        raise _refusal(path, "not a whole .png file")
    return {}
