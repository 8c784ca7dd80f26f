"""What text formats share: whole weights of up to 64 bits are exact, whatever their number of digits."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import gpop.io
from gpop.common.errors import GraphFileError
from gpop.graph.graph import Graph

LONG = [10**18 + 100, 1]
"""One digit more than the compiled parsers take."""


@pytest.mark.parametrize("ids", [(0, 1, 2), ("a", "b", "c")], ids=["numbers", "names"])
@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        (LONG, np.int64),
        ([2**63 - 1, -(2**63)], np.int64),
        ([2**63, 0], np.uint64),
        ([2**64 - 1, 2**63 - 1], np.uint64),
        ([2**64, 1], np.float64),
        ([2**63, -1], np.float64),
        ([10**18, 0.5], np.float64),
    ],
)
def test_long_weights_have_the_first_type_that_holds_them(tmp_path, weights, dtype, ids):
    lines = [f"{ids[i]} {ids[i + 1]} {weight}\n" for i, weight in enumerate(weights)]
    (tmp_path / "g.wel").write_text("".join(lines))
    found = gpop.io.load(tmp_path / "g.wel").weights
    assert found.dtype == dtype
    assert found.tolist() == [dtype(weight) for weight in weights]


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.gr", "g.mtx", "g.konect", "g.metis"])
@pytest.mark.parametrize("weight", [10**18, 2**64 - 1])
def test_long_weights_come_back(tmp_path, name, weight):
    weights = np.array([weight, weight], np.uint64)
    Graph.from_edges([0, 1], [1, 0], weights=weights).save(tmp_path / name)
    assert gpop.io.load(tmp_path / name).weights.tolist() == weights.tolist()


@pytest.mark.parametrize(
    ("other", "dtype"), [(7, np.uint64), (2**40, np.uint64), (-7, np.float64), (0.5, np.float64)]
)
@pytest.mark.parametrize("ids", [(0, 1), ("a", "b")], ids=["numbers", "names"])
def test_pieces_have_a_type_in_common(tmp_path, monkeypatch, other, dtype, ids):
    monkeypatch.setattr("gpop.io.text.BLOCK", 40)
    monkeypatch.setattr("gpop.io.text._PIECE", 20)
    line = f"{ids[0]} {ids[1]} "
    (tmp_path / "g.wel").write_text(f"{line}{2**63}\n" + f"{line}{other}\n" * 9)
    found = gpop.io.load(tmp_path / "g.wel").weights
    assert found.dtype == dtype
    assert sorted(found.tolist()) == sorted([dtype(2**63), *[dtype(other)] * 9])


@pytest.mark.parametrize("ending", [".el", ".el.gz", ".mtx"])
def test_text_may_come_from_a_pipe(tmp_path, ending):
    file, pipe = tmp_path / f"g{ending}", tmp_path / f"pipe{ending}"
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    graph.save(file)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[file.read_bytes()], daemon=True)
    writer.start()
    found = gpop.io.load(pipe)
    writer.join()
    assert found.n == graph.n and found.indices.tolist() == graph.indices.tolist()


@pytest.mark.parametrize("ending", [".bin", ".sg", ".npz", ".parquet"])
def test_other_formats_want_a_file(tmp_path, ending):
    os.mkfifo(tmp_path / f"pipe{ending}")
    with pytest.raises(GraphFileError, match=f"pipe{ending}: is a pipe, expected a file: from a pipe one"):
        gpop.io.load(tmp_path / f"pipe{ending}")
