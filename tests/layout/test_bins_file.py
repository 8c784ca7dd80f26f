"""Layouts in files: what is read back equals what is built, and what is damaged is built anew."""

from __future__ import annotations

import multiprocessing
import os

import numpy as np
import pytest

import gpop
from gpop.common.array_hash import hash_array
from gpop.common.errors import GraphFileError
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.layout import bins_file
from gpop.layout.bins import Bins, build_bins
from gpop.layout.bins_file import content_hash, layout_path, open_layout, save_layout
from gpop.layout.file_header import HEADER, PAGE, SECTIONS, header_hash
from gpop.layout.kept_bins import bins_of
from tests.graphs import small_graphs

BITS = 5


def copy_of(graph: Graph) -> Graph:
    return Graph(graph.indptr, graph.indices, graph.weights, name=graph.name)


def equal(a: Bins, b: Bins) -> bool:
    pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(a, b, strict=True)]
    return all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs)


@pytest.fixture
def graph() -> Graph:
    return generate("rmat", scale=9, degree=8, weights=(1, 200))


@pytest.fixture
def kept(graph, tmp_path):
    path = tmp_path / "graph.layout"
    save_layout(graph, path, BITS)
    return path


@pytest.mark.parametrize("name", small_graphs())
@pytest.mark.parametrize("bits", [0, 3, 16])
def test_round_trip(tmp_path, name, bits):
    graph = copy_of(small_graphs()[name])
    save_layout(graph, tmp_path / "x.layout", bits)
    opened = open_layout(graph, tmp_path / "x.layout", bits)
    assert equal(opened, build_bins(graph, bits, 1))
    assert all(array.flags.writeable and array.flags.aligned for array in opened[3:-1])  # one compiled kernel


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64, np.uint16])
def test_weights_of_any_type(tmp_path, graph, dtype):
    graph = Graph(graph.indptr, graph.indices, graph.weights.astype(dtype) - dtype(3))
    save_layout(graph, tmp_path / "x.layout", BITS)
    assert equal(open_layout(graph, tmp_path / "x.layout", BITS), build_bins(graph, BITS, 1))


def test_runs_alike_and_leaves_the_file_alone(tmp_path, graph):
    """Built and saved; opened; and the same result from all of them."""
    expected = gpop.bfs(copy_of(graph), 0, method="messages").parent
    for _ in range(2):
        fresh = copy_of(graph)
        fresh.facts.layout_directory = tmp_path
        assert np.array_equal(gpop.bfs(fresh, 0, method="messages").parent, expected)
    (path,) = tmp_path.iterdir()
    before = path.read_bytes()
    bins = open_layout(graph, path, int(path.stem.rpartition("q")[2]).bit_length() - 1)
    bins.ids[:] = 0  # a private page
    assert path.read_bytes() == before


def test_opened_instead_of_built(tmp_path, graph, monkeypatch):
    monkeypatch.setenv("GPOP_LAYOUTS", str(tmp_path))
    built = bins_of(copy_of(graph), BITS, 1)[0]
    monkeypatch.setattr(bins_file, "build_bins", None)
    opened, seconds = bins_of(copy_of(graph), BITS, 1)
    assert equal(opened, built)
    assert seconds > 0


def test_name_says_content_and_size(tmp_path, graph):
    graph.name = "../a b"
    path = layout_path(graph, BITS, tmp_path)
    assert path == tmp_path / f".._a_b-{content_hash(graph):016x}-q32.layout"


def test_content_hash_sees_everything(graph):
    seen = {content_hash(graph)}
    for at in (0, 1, graph.m // 2, graph.m - 1):
        for name in ("indices", "weights"):
            arrays = {"indices": graph.indices.copy(), "weights": graph.weights.copy()}
            arrays[name][at] ^= 1
            seen.add(content_hash(Graph(graph.indptr, **arrays)))
    seen.add(content_hash(Graph(graph.indptr, graph.indices)))
    seen.add(content_hash(Graph(graph.indptr, graph.indices, graph.weights.view(np.int32))))
    seen.add(content_hash(Graph(graph.indptr, graph.indices, graph.weights.view(np.float32))))
    seen.add(content_hash(graph.reverse()))
    assert len(seen) == 1 + 8 + 4
    assert content_hash(copy_of(graph)) in seen


def boundaries(path) -> list[tuple[str, int, int]]:
    """Name, first and last byte of the header and every section."""
    header = np.fromfile(path, HEADER, 1)[0]
    result, position = [("header", 0, HEADER.itemsize)], HEADER.itemsize
    for i, name in enumerate(SECTIONS):
        position += -position % PAGE
        end = position + int(header["sizes"][i]) * np.dtype(header["types"][i].decode()).itemsize
        result.append((name, position, end))
        position = end
    return result


def test_bit_flips(graph, kept):
    good = kept.read_bytes()
    rng = np.random.default_rng(5)
    for _, first, last in boundaries(kept):
        assert last > first
        for at in {first, last - 1, *rng.integers(first, last, 40).tolist()}:
            damaged = bytearray(good)
            damaged[at] ^= 1 << int(rng.integers(8))
            kept.write_bytes(damaged)
            assert open_layout(graph, kept, BITS) is None, at
    kept.write_bytes(good)
    assert open_layout(graph, kept, BITS) is not None


def test_truncated_or_longer(graph, kept):
    good = kept.read_bytes()
    ends = [end + by for _, first, last in boundaries(kept) for end in (first, last) for by in (-1, 0, 1)]
    for end in {0, 1, PAGE - 1, PAGE, *ends} - {-1, len(good)}:
        kept.write_bytes(good[:end] if end < len(good) else good + b"\0")
        assert open_layout(graph, kept, BITS) is None, end


def forged(path, **changes) -> None:
    """Change arrays, with hashes that agree: what only the checks of consistency can find."""
    data = bytearray(path.read_bytes())
    header = np.frombuffer(data, HEADER, 1)
    for i, (name, first, _) in enumerate(boundaries(path)[1:]):
        array = np.frombuffer(data, header["types"][0, i].decode(), offset=first, count=header["sizes"][0, i])
        if name in changes:
            changes[name](array)
            header["hashes"][0, i] = hash_array(array)
    for name in changes.keys() & set(HEADER.names):
        header[name] = changes[name]
    header["own_hash"] = header_hash(header)
    path.write_bytes(data)


def put(at, value):
    def change(array):
        array[at] = value

    return change


def shift(at, by):
    def change(array):
        array[at] += by

    return change


def flip_flag(at):
    def change(array):
        array[at] ^= 0x8000

    return change


@pytest.mark.parametrize(
    "change",
    [
        {"slots": put(0, 1)},
        {"slots": put(-1, 10**12)},
        {"slots": put(5, -1)},
        {"slots": put(7, 10**9)},
        {"slots": shift(20, 1)},
        {"id_offsets": put(0, -8)},
        {"id_offsets": put(-1, 10**12)},
        {"id_offsets": put(3, 10**9)},
        {"id_offsets": shift(20, 1)},
        {"sources": put(0, 32)},
        {"sources": put(-1, 0xFFFF)},
        {"ids": flip_flag(0)},
        {"ids": flip_flag(1)},
        {"ids": flip_flag(-1)},
        {"ids": put(-1, 0x7FFF)},
        {"version": 3},
        {"version": 0},
        {"magic": b"GPOPbinz"},
        {"bits": BITS + 1},
        {"graph": 1},
    ],
)
def test_forged(graph, kept, change):
    forged(kept)
    assert open_layout(graph, kept, BITS) is not None
    forged(kept, **change)
    assert open_layout(graph, kept, BITS) is None


def test_a_bin_must_begin_with_the_first_id_of_a_message(graph, kept):
    """Two flags that change places in a bin: as many messages as before, but the first id is of none."""
    bins = build_bins(graph, BITS, 1)
    marked = bins.ids >> 15
    starts = bins.id_offsets[:-1][np.diff(bins.id_offsets) > 1]
    (second,) = (int(start) + 1 for start in starts[marked[starts + 1] == 0][:1])

    def swap(ids):
        assert ids[second - 1] >> 15 == 1
        ids[second - 1 : second + 1] ^= np.uint16(0x8000)

    forged(kept, ids=swap)
    assert open_layout(graph, kept, BITS) is None


def test_other_graph_or_size(graph, kept):
    assert open_layout(graph, kept, BITS + 1) is None
    assert open_layout(graph.reverse(), kept, BITS) is None
    assert open_layout(Graph(graph.indptr, graph.indices), kept, BITS) is None


def test_damaged_file_is_replaced(tmp_path, graph):
    graph.facts.layout_directory = tmp_path
    expected = bins_of(graph, BITS, 1)[0]
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    path.write_bytes(good[:-1])
    again = copy_of(graph)
    again.facts.layout_directory = tmp_path
    assert equal(bins_of(again, BITS, 1)[0], expected)
    assert path.read_bytes() == good
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("directory", ["missing", "file"])
def test_directory_that_takes_nothing(tmp_path, graph, directory):
    (tmp_path / "file").write_text("")
    graph.facts.layout_directory = tmp_path / directory
    assert bins_of(graph, BITS, 1)[0].messages > 0
    with pytest.raises(GraphFileError, match="cannot be written"):
        save_layout(graph, tmp_path / directory / "x.layout", BITS)


def test_read_only_directory(tmp_path, graph, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gpop.common.replacing.tempfile.mkstemp", refuse)  # the superuser is never refused
    tmp_path.chmod(0o500)
    graph.facts.layout_directory = tmp_path
    assert bins_of(graph, BITS, 1)[0].messages > 0
    assert not list(tmp_path.iterdir())
    tmp_path.chmod(0o700)


def test_full_disk(tmp_path, graph, monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpop.common.replacing.os.replace", refuse)
    graph.facts.layout_directory = tmp_path
    assert bins_of(graph, BITS, 1)[0].messages > 0
    assert not list(tmp_path.iterdir())


def _write_until(path, enough):
    graph = generate("rmat", scale=9, degree=8, seed=1, weights=(1, 200))
    while not enough.is_set():
        save_layout(graph, path, BITS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs two processes of one kind")
def test_two_writers_and_a_reader(graph, kept):
    context = multiprocessing.get_context("spawn")
    enough = context.Event()
    writers = [context.Process(target=_write_until, args=(kept, enough)) for _ in range(2)]
    for writer in writers:
        writer.start()
    files = set()
    try:
        while len(files) < 20:  # so many times the file was replaced between two readings
            assert open_layout(graph, kept, BITS) is not None
            assert all(writer.is_alive() for writer in writers)
            files.add(kept.stat().st_mtime_ns)
    finally:
        enough.set()
        for writer in writers:
            writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert list(kept.parent.iterdir()) == [kept]


def test_load_keeps_layouts_beside_the_file(tmp_path):
    path = tmp_path / "ring.bin"
    gpop.save(gpop.Graph.from_edges([0, 1, 2], [1, 2, 0]), path)
    gpop.bfs(gpop.load(path, layouts=True), 0, method="messages")
    (kept,) = tmp_path.glob("*.layout")
    written = kept.stat().st_mtime_ns
    assert gpop.bfs(gpop.load(path, layouts=True), 0, method="messages").level.tolist() == [0, 1, 2]
    assert kept.stat().st_mtime_ns == written
    gpop.bfs(gpop.load(path, layouts=tmp_path), 0, method="messages")
    assert list(tmp_path.glob("*.layout")) == [kept]
