"""Tables and arrays on disk: whole or not at all, and damage is named."""

import os

import numpy as np
import pandas as pd
import pytest

from largeprompt.errors import InputError
from largeprompt.tables import (
    read_arrays,
    read_json,
    read_table,
    write_arrays,
    write_json,
    write_table,
)

TABLE = pd.DataFrame({"law": ["gaussian", "cube"], "L": [1, 2], "value": [0.1, 1 / 3]})


def test_table_comes_back_to_the_last_bit_with_its_run(tmp_path):
    write_table(tmp_path / "t.csv", TABLE, "smoke")
    back = read_table(tmp_path / "t.csv", ["law", "value"])
    assert back["value"].tolist() == TABLE["value"].tolist()
    assert back.attrs["run"] == "smoke"


def test_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_table(tmp_path / f"{name}.csv", TABLE, "full")
        write_arrays(tmp_path / f"{name}.npz", x=np.arange(3), word="gaussian")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_infinite_length_survives_a_table(tmp_path):
    write_table(tmp_path / "t.csv", pd.DataFrame({"L": [10.0, np.inf]}), "full")
    assert read_table(tmp_path / "t.csv", ["L"])["L"].tolist() == [10.0, np.inf]


@pytest.mark.parametrize("keep", [0, 10, 60, 130])
def test_cut_table_is_refused_by_name(tmp_path, keep):
    path = tmp_path / "t.csv"
    write_table(path, TABLE, "full")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"t\.csv: .*delete this file and rerun snakemake"):
        read_table(path, ["L"])


def test_edited_value_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    write_table(path, TABLE, "full")
    path.write_text(path.read_text().replace("cube", "ball"))
    with pytest.raises(InputError, match="does not match its checksum"):
        read_table(path, ["L"])


def test_missing_column_array_and_key_are_named(tmp_path):
    write_table(tmp_path / "t.csv", TABLE, "full")
    write_arrays(tmp_path / "t.npz", x=[1.0])
    write_json(tmp_path / "t.json", {"verdict": "reproduced"})
    with pytest.raises(InputError, match="column stderr is missing"):
        read_table(tmp_path / "t.csv", ["L", "stderr"])
    with pytest.raises(InputError, match="array y is missing"):
        read_arrays(tmp_path / "t.npz", ["x", "y"])
    with pytest.raises(InputError, match="key measured is missing"):
        read_json(tmp_path / "t.json", ["measured"])


def test_missing_file_is_named(tmp_path):
    for read in (read_table, read_arrays, read_json):
        with pytest.raises(InputError, match="gone: file is missing"):
            read(tmp_path / "gone", [])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip", b"\x80\x04pickle"])
def test_damaged_arrays_are_refused(tmp_path, content):
    path = tmp_path / "t.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"t\.npz: not a whole \.npz file"):
        read_arrays(path, ["x"])


def test_cut_arrays_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    write_arrays(path, x=np.arange(1000))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match="not a whole"):
        read_arrays(path, ["x"])


def test_pickles_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        write_arrays(tmp_path / "t.npz", x=np.array([{}], dtype=object))
    np.savez(tmp_path / "t.npz", x=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="not a whole"):
        read_arrays(tmp_path / "t.npz", ["x"])


def test_no_table_holds_a_value_that_is_not_a_number(tmp_path):
    with pytest.raises(ValueError, match="not a number in column value"):
        write_table(tmp_path / "t.csv", pd.DataFrame({"value": [1.0, np.nan]}), "full")
    with pytest.raises(ValueError, match="empty"):
        write_table(tmp_path / "t.csv", TABLE.iloc[:0], "full")
    assert not list(tmp_path.iterdir())


def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    write_table(path, TABLE, "full")
    before = path.read_bytes()

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_table(path, TABLE.assign(L=9), "full")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
