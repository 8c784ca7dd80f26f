"""Binary CSR: all layouts, ties, damaged and forged files; never a crash or a half-loaded graph."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpop.io
from gpop.common.errors import GpopError, GraphFileError, NotEnoughMemory, UsageError
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.graphs import same, small_graphs
from tests.io.mutated import check_mutation

LAYOUTS = {
    "32-bit": ("<u4", "<u4", "<u4", "<u4"),
    "64-bit offsets": ("<u4", "<u8", "<u8", "<u4"),
    "64-bit offsets and ids": ("<u8", "<u8", "<u8", "<u8"),
}


def encode(layout, n, m, offsets, edges, weights=None):
    """A file put together independently of the library."""
    n_type, m_type, offset_type, edge_type = LAYOUTS[layout]
    parts = [(n, n_type), (m, m_type), (offsets, offset_type), (edges, edge_type)]
    parts += [] if weights is None else [(weights, "<u4")]
    return b"".join(np.array(values).astype(dtype).tobytes() for values, dtype in parts)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", small_graphs())
def test_every_layout(tmp_path, name, layout):
    graph = small_graphs()[name]
    path = tmp_path / "g.bin"
    path.write_bytes(encode(layout, graph.n, graph.m, graph.indptr[:-1], graph.indices, graph.weights))
    read = gpop.io.load(path)
    assert same(read, graph)
    assert read.name == "g"
    assert read.indptr.dtype == np.int64
    assert read.indices.dtype == np.uint32


@pytest.mark.parametrize("name", small_graphs())
def test_round_trip(tmp_path, name):
    graph = small_graphs()[name]
    graph.save(tmp_path / "g.bin")
    assert same(gpop.io.load(tmp_path / "g.bin"), graph)
    assert os.listdir(tmp_path) == ["g.bin"]
    expected = encode("32-bit", graph.n, graph.m, graph.indptr[:-1], graph.indices, graph.weights)
    assert (tmp_path / "g.bin").read_bytes() == expected


def test_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("gpop.io.binary._PIECE", 100)
    monkeypatch.setattr("gpop.graph.validate._PIECE", 100)
    graph = generate("rmat", scale=10, degree=4, weights=(0, 2**32 - 3))
    graph.save(tmp_path / "g.bin")
    assert same(gpop.io.load(tmp_path / "g.bin"), graph)
    data = bytearray((tmp_path / "g.bin").read_bytes())
    for edge in (1717, 999):  # the first bad edge is the one that is named
        data[8 + 4 * (1024 + edge) + 3] = 0x80
    (tmp_path / "g.bin").write_bytes(data)
    with pytest.raises(GraphFileError, match=r"edge 999 leads to vertex 2147.*, expected an id below 1024"):
        gpop.io.load(tmp_path / "g.bin")


def test_weighted(tmp_path):
    weighted, plain = small_graphs()["rmat weighted"], small_graphs()["rmat"]
    weighted.save(tmp_path / "w.bin")
    plain.save(tmp_path / "p.bin")
    assert gpop.io.load(tmp_path / "w.bin", weighted=False).weights is None
    assert same(gpop.io.load(tmp_path / "w.bin", weighted=True), weighted)
    assert gpop.io.load(tmp_path / "p.bin", weighted=False).weights is None
    with pytest.raises(GraphFileError, match=r"p\.bin: has no weights, expected a weighted graph"):
        gpop.io.load(tmp_path / "p.bin", weighted=True)
    assert gpop.io.load(tmp_path / "p.bin", symmetrize=True).is_symmetric()


def test_a_tie_is_decided_by_the_offsets(tmp_path):
    """m = n + 1: weighted with 32 bits is as long as unweighted with 64-bit offsets."""
    path = tmp_path / "g.bin"
    path.write_bytes(encode("32-bit", 2, 3, [0, 1], [1, 0, 1], [7, 8, 9]))
    assert gpop.io.load(path).weights.tolist() == [7, 8, 9]
    assert gpop.io.load(path, weighted=False).weights is None
    path.write_bytes(encode("64-bit offsets", 4, 5, [0, 2, 3, 4], [1, 0, 1, 3, 2]))
    assert gpop.io.load(path).weights is None
    assert gpop.io.load(path).indices.tolist() == [1, 0, 1, 3, 2]
    with pytest.raises(GraphFileError, match="has no weights"):
        gpop.io.load(path, weighted=True)


def test_a_real_tie(tmp_path):
    path = tmp_path / "g.bin"
    path.write_bytes(encode("32-bit", 1, 2, [0], [0, 0], [0, 0]))
    with pytest.raises(
        GraphFileError, match="ambiguous, 32-bit and weights .* or 64-bit offsets .*weighted=True"
    ):
        gpop.io.load(path)
    assert gpop.io.load(path, weighted=True).weights.tolist() == [0, 0]
    assert gpop.io.load(path, weighted=False).weights is None
    ours = Graph.from_edges([0, 0], [0, 0], [0, 0])
    ours.save(path)  # written so that it is not one
    assert gpop.io.load(path).weights.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes, expected a binary CSR with a header of at least 8 bytes"),
        (b"\x01\x00\x00", "3 bytes, expected a binary CSR"),
        (
            encode("32-bit", 2, 2, [0, 1], [1, 0])[:-1],
            r"23 bytes do not match .*32-bit \(n=2, m=2\): 24 bytes",
        ),
        (encode("32-bit", 2, 2, [0, 1], [1, 0]) + b"\0", "25 bytes do not match the header"),
        (
            encode("32-bit", 2, 2, [0, 3], [1, 0]),
            r"\(32-bit .*offset of vertex 1 is 3, expected at most m = 2",
        ),
        (encode("32-bit", 3, 2, [0, 2, 1], [1, 0]), "offset of vertex 2 is 1, expected at least 2"),
        (encode("32-bit", 2, 2, [1, 1], [1, 0]), "offset of vertex 0 is 1, expected 0"),
        (encode("32-bit", 2, 2, [0, 1], [1, 2]), "edge 1 leads to vertex 2, expected an id below 2"),
        (encode("64-bit offsets and ids", 2, 2, [0, 1], [1, 2**32]), "edge 1 leads to vertex 4294967296"),
        (encode("64-bit offsets", 3, 1, [0, 2**63, 1], [1]), "offset of vertex 1 is -9223372036854775808"),
        (encode("32-bit", 0, 3, [], [1, 2, 3]), "offset of vertex 0 is 3, expected 0"),
    ],
)
def test_damaged(tmp_path, data, message):
    path = tmp_path / "g.bin"
    path.write_bytes(data)
    with pytest.raises(GraphFileError, match=message) as error:
        gpop.io.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_forged_headers_do_not_allocate(tmp_path, monkeypatch):
    """Files of the right (sparse) length with a giant header are refused by prediction."""
    path = tmp_path / "g.bin"
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 2**34)
    path.write_bytes(np.array([2**31, 2**31], "<u4").tobytes())
    os.truncate(path, 8 + 4 * (2**31 + 2**31))
    with pytest.raises((NotEnoughMemory, GraphFileError), match=r"g\.bin"):
        gpop.io.load(path)
    path.write_bytes(np.array([2**32 - 1, 0], "<u4").tobytes())
    os.truncate(path, 8 + 4 * (2**32 - 1))
    with pytest.raises(GraphFileError, match="4294967295 vertices, expected at most 4294967294"):
        gpop.io.load(path)


def test_memory_is_predicted_from_the_header(tmp_path, monkeypatch):
    path = tmp_path / "g.bin"
    path.write_bytes(np.array([2**20, 0], "<u4").tobytes())
    os.truncate(path, 8 + 4 * 2**20)
    monkeypatch.setattr("gpop.common.memory.available_bytes", lambda: 8_000_000)
    with pytest.raises(NotEnoughMemory, match=r"g\.bin: n=1048576, m=0 needs 8\.4 MB, but only 8\.0 MB"):
        gpop.io.load(path)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 0.5], "weight 0.5 of edge 1 cannot be stored"),
        ([-1, 0], "weight -1 of edge 0"),
        ([2**32, 0], "weight 4294967296 of edge 0"),
        ([np.nan, 0], "weight nan of edge 0"),
        ([np.inf, 0], "weight inf of edge 0"),
    ],
)
def test_weights_that_do_not_fit(tmp_path, weights, message):
    with pytest.raises(UsageError, match=message + ".*expected integers in 0..4294967295"):
        Graph.from_edges([0, 1], [1, 0], weights).save(tmp_path / "g.bin")
    assert not os.listdir(tmp_path)


def test_whole_floats_fit(tmp_path):
    Graph.from_edges([0, 1], [1, 0], [2.0, 2**32 - 1.0]).save(tmp_path / "g.bin")
    assert gpop.io.load(tmp_path / "g.bin").weights.tolist() == [2, 2**32 - 1]


@st.composite
def mutated(draw):
    """A valid file with some bytes changed, cut off, doubled or put in."""
    layout = draw(st.sampled_from(list(LAYOUTS)))
    n = draw(st.integers(0, 9))
    degrees = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    m = sum(degrees)
    edges = draw(st.lists(st.integers(0, max(0, n - 1)), min_size=m, max_size=m))
    weights = draw(st.none() | st.lists(st.integers(0, 2**32 - 1), min_size=m, max_size=m))
    data = bytearray(encode(layout, n, m, np.cumsum([0, *degrees])[:-1], edges, weights))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["change", "cut", "insert", "number"]))
        if kind == "change" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 9))]
        elif kind == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=9))
        else:  # a whole field becomes an extreme
            at -= at % 4
            data[at : at + 4] = draw(st.sampled_from([0, 1, 2**31, 2**32 - 1])).to_bytes(4, "little")
    return bytes(data)


@settings(deadline=None, max_examples=300)
@given(mutated())
def test_mutated_files(tmp_path_factory, data):
    check_mutation(tmp_path_factory.getbasetemp() / "mutated.bin", data)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(deadline=None, max_examples=20_000)
@given(mutated() | st.binary(max_size=200))
def test_mutated_files_at_length(tmp_path_factory, data):
    check_mutation(tmp_path_factory.getbasetemp() / "mutated.bin", data)


def test_files_that_cannot_be_read_or_written(tmp_path):
    graph = small_graphs()["chain"]
    with pytest.raises(GraphFileError, match=r"none\.bin: cannot be read: No such file"):
        gpop.io.load(tmp_path / "none.bin")
    (tmp_path / "folder.bin").mkdir()
    with pytest.raises(GraphFileError, match=r"folder\.bin: cannot be read: Is a directory"):
        gpop.io.load(tmp_path / "folder.bin")
    with pytest.raises(GraphFileError, match=r"folder\.bin: cannot be written"):
        graph.save(tmp_path / "folder.bin")
    with pytest.raises(GraphFileError, match=r"none/g\.bin: cannot be written: No such file"):
        graph.save(tmp_path / "none" / "g.bin")
    assert os.listdir(tmp_path) == ["folder.bin"]
    for name in ("g.foo", "g", "g.bin.gz"):
        with pytest.raises(GraphFileError, match=f"{name}: cannot be read: No such file"):
            gpop.io.load(tmp_path / name)
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(
            UsageError, match=r"unknown kind of graph file, expected a name ending in one of \.bin"
        ):
            gpop.io.load(tmp_path / name)
    assert issubclass(GraphFileError, GpopError)
