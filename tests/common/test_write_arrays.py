"""What is written is there, or is said not to be: no byte of a file is lost where a device is full."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.apps.report import save_table
from gpop.common.write_arrays import save_array, write_array
from gpop.convert import _save_ids
from gpop.generate import generate
from gpop.layout.bins_file import save_layout

ROOT = Path(gpop.__file__).parent
GRAPH = generate("uniform", scale=8, degree=13, seed=1, weights=(1, 9), symmetrize=True)
TRACE = gpop.Trace()
TRACE.extend(np.ones((300, 9)))
WAYS = {name: lambda path: gpop.save(GRAPH, path) for name in (
    "x.bin", "x.wsg", "x.mtx", "x.npz", "x.wel", "x.txt", "x.graph", "x.gr", "x.adj", "x.csv", "x.txt.gz",
)} | {
    "x.sg": lambda path: gpop.save(gpop.Graph(GRAPH.indptr, GRAPH.indices), path),
    "x.gpop": lambda path: save_layout(GRAPH, path, bits=5),
    "t.json": lambda path: TRACE.save(path),
    "ids.npy": lambda path: _save_ids(GRAPH, path),
    "o.npy": lambda path: save_table(path, {"vertex": np.arange(2000), "level": np.arange(2000)}, {}, None),
}  # fmt: skip


def at_most(size: int) -> None:
    """No file may have more bytes; as on a device that is full, the rest of a write is refused."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.fixture
def limited():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WAYS)
def test_a_file_whose_last_bytes_find_no_room(name, tmp_path, limited):
    path, write = tmp_path / name, WAYS[name]
    write(path)
    size = path.stat().st_size
    for missing in (1, size % 4096 or 4096, size - 1):
        path.write_bytes(b"as it was")
        at_most(size - missing)
        with pytest.raises(gpop.GraphFileError, match=f"{name}: cannot be written: File too large$"):
            write(path)
        at_most(1 << 30)
        assert path.read_bytes() == b"as it was" and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("buffering", [-1, 0])
def test_an_array_that_finds_no_room(buffering, tmp_path, limited):
    at_most(8192)
    with pytest.raises(OSError, match="File too large"), open(tmp_path / "x", "wb", buffering) as file:
        write_array(np.ones(1025), file)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12).reshape(3, 4).T,
        np.zeros(0, np.uint16),
        np.zeros(3, [("a", "u1"), ("b", "<f8")]),
        np.array(["anna", "bo"]),
        np.array([True, False]),
    ],
    ids=str,
)
def test_bytes_are_those_of_the_array(array, tmp_path):
    with open(tmp_path / "x", "wb", buffering=0) as file:
        write_array(array, file)
    assert (tmp_path / "x").read_bytes() == array.tobytes()
    with open(tmp_path / "x.npy", "wb") as file:
        save_array(array, file)
    back = np.load(tmp_path / "x.npy")
    assert np.array_equal(back, array) and back.dtype == array.dtype


def test_nobody_writes_arrays_in_another_way():
    texts = {path: path.read_text() for path in ROOT.rglob("*.py") if path.stem != "write_arrays"}
    assert not [str(path) for path, text in texts.items() if re.search(r"\.tofile\(|np\.save\(", text)]
