"""The tables that tell the blocks of a GPU what to do, and the mirrors of its structs; no GPU is needed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.gpu import device_tables, kernel, limits
from gpop.gpu.device_tables import SEGMENT, cut_bins, hub_tables, messages_by_source
from gpop.gpu.emit import emit
from gpop.gpu.pieces import PIECE, column_pieces, row_pieces
from gpop.gpu.structs import CONTROL, GRAPH, SPACE
from gpop.gpu.traits import OWNER, SWAP, Traits
from gpop.gpu.workspace import queue_shapes
from gpop.layout.bins import build_bins
from gpop.program.folds import identity
from gpop.program.lowering import lower
from tests.gpu.cases import Sums
from tests.programs import random_graph

GRAPHS = [
    random_graph(1, 90, 400),
    random_graph(2, 700, 9000),
    gpop.Graph.from_edges(np.zeros(500, int), np.arange(500)),  # one heavy row
    gpop.Graph.from_edges(np.arange(500), np.zeros(500, int)),  # one heavy column
    gpop.Graph.from_edges([], [], n=40),
    gpop.Graph.from_edges([], [], n=1),
]
CASES = [(graph, bits) for graph in GRAPHS for bits in (0, 3, 10)]


def covered(pieces: np.ndarray, length: int) -> np.ndarray:
    """How many pieces hold each position."""
    count = np.zeros(length, int)
    for piece in pieces:
        assert piece["first"] < piece["last"]
        count[piece["first"] : piece["last"]] += 1
    return count


@pytest.mark.parametrize("graph, bits", CASES)
def test_segments_cover_every_id_once(graph, bits, monkeypatch):
    monkeypatch.setattr(device_tables, "SEGMENT_IDS", 16)
    bins = build_bins(graph, bits, threads=1)
    first, column, bin_start = cut_bins(bins)
    end = np.append(first, bins.ids.size)[1:]
    assert np.all(first < end)
    assert np.all(end - first <= 16)
    assert first.size == 0 or first[0] == 0
    for at, (begin, stop) in enumerate(zip(first, end, strict=True)):
        bin_of = column[at]
        assert bins.id_offsets[bin_of] <= begin < stop <= bins.id_offsets[bin_of + 1]
        assert column[bin_start[at]] == bin_of
        assert bin_start[at] == 0 or column[bin_start[at] - 1] != bin_of


@pytest.mark.parametrize("graph, bits", CASES)
@pytest.mark.parametrize("most, started", [(1, 0), (30, 0), (30, 7), (10_000, 100)])
def test_rows_are_cut_into_pieces(graph, bits, most, started):
    bins = build_bins(graph, bits, threads=1)
    pieces, k = row_pieces(bins, most, started), int(bins.k)
    assert np.all(covered(pieces, bins.messages) == 1)
    size = pieces["last"] - pieces["first"]
    assert np.all(size <= most)
    assert np.all(np.diff(size) <= 0)  # the largest first
    dealt = (pieces["first"] + started * (pieces["partition"] + 1)) // most
    assert np.all(np.bincount(dealt, size) <= most)  # however many rows a share has
    assert len(pieces) <= k + (bins.messages + started * k) // most
    row_of = np.repeat(np.arange(k), np.diff(bins.slots[::k]))
    for piece in pieces:
        assert np.all(row_of[piece["first"] : piece["last"]] == piece["partition"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most, started", [(1, 0), (100, 0), (300, 40), (10_000, 100)])
def test_columns_are_joined_into_pieces(seed, most, started):
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 60, 300)
    destination = np.sort(rng.integers(0, 20, 300))
    pieces = column_pieces(count, destination, most, started)
    assert np.all(covered(pieces, 300) == 1)
    ids = np.array([count[piece["first"] : piece["last"]].sum() for piece in pieces])
    assert np.all(np.diff(ids) <= 0)
    columns = np.unique(destination)
    begins = np.cumsum(count) - count + started * (np.searchsorted(columns, destination) + 1)
    dealt = np.bincount(begins[pieces["first"]] // most, ids)
    assert np.all(dealt < most + 60)  # however many columns a share has
    for piece in pieces:
        assert np.all(destination[piece["first"] : piece["last"]] == piece["partition"])
    assert len(pieces) <= len(columns) + (count.sum() + started * len(columns)) // most + 1
    assert len(column_pieces(count[:0], destination[:0], most, started)) == 0


@pytest.mark.parametrize("graph, bits", CASES)
def test_messages_by_source(graph, bits):
    """A row of the layout, or a column of the reversed graph's: the messages that leave a partition."""
    bins = build_bins(graph, bits, threads=1)
    k = int(bins.k)
    assert np.array_equal(messages_by_source(bins, turned=False), np.diff(bins.slots[::k]))
    turned = build_bins(graph.reverse(), bits, threads=1)
    per_bin = np.diff(turned.slots).reshape(k, k)
    assert np.array_equal(messages_by_source(turned, turned=True), [per_bin[:, p].sum() for p in range(k)])
    # A run: the in-edges of a vertex from one partition.
    tails = np.repeat(np.arange(graph.n), graph.out_degree)
    runs = {(int(head), int(tail) >> bits) for tail, head in zip(tails, graph.indices, strict=True)}
    assert messages_by_source(turned, turned=True).sum() == len(runs)


@pytest.mark.parametrize("least", [0, 2, 30, 10_000])
@pytest.mark.parametrize("graph", GRAPHS)
def test_hubs_have_queues_of_their_in_edges(graph, least):
    degree = graph.reverse().out_degree
    tables = hub_tables(degree, least)
    hubs, first, place = tables["hub_vertex"], tables["hub_first"], tables["hub_of"]
    assert sorted(hubs) == np.flatnonzero(degree > least).tolist()
    assert np.all(np.diff(degree[hubs].astype(int)) <= 0)  # the largest first
    assert np.array_equal(np.diff(first), degree[hubs])
    assert place.size in (0, graph.n)
    for v, at in enumerate(place):
        assert (at < hubs.size and hubs[at] == v) if degree[v] > least else at == device_tables.NO_HUB


@pytest.mark.parametrize("room, hubs", [(0, 0), (39, 0), (40, 1), (71, 1), (72, 2), (10**6, 3)])
def test_as_many_queues_as_there_is_room_for(room, hubs):
    """Hubs of 5, 4 and 4 in-edges, messages of 8 bytes."""
    emitted = emit(Sums, lower(Sums))
    tables = hub_tables(np.array([4, 1, 5, 4]), 3)
    traits = Traits(5, None, None, False, 0, None, None, SWAP, False, False, ())
    graph = type("Layout", (), {"hub_first": tables["hub_first"]})
    shapes = queue_shapes(graph, emitted, traits, room)
    assert {name: shape[0] for name, shape in shapes.items()} == {
        "waiting": int(tables["hub_first"][hubs]), "waiting_count": hubs, "called": hubs,
    }  # fmt: skip
    for other in (traits._replace(push=OWNER), traits._replace(combine="min")):
        assert {shape[0] for shape in queue_shapes(graph, emitted, other, room).values()} == {0}


# --- structs -----------------------------------------------------------------------------------------------


LAYOUT = Path(kernel.__file__).parent / "kernels" / "layout.cuh"


def members(struct: str) -> list[str]:
    """Names in the C++ text of a struct, in order."""
    body = re.search(rf"struct {struct} {{(.*?)\n\s*}}[^{{]*?;", LAYOUT.read_text(), re.DOTALL)[1]
    body = re.sub(r"//.*|\[[^\]]*\]", "", body)
    declarations = [part.strip() for part in body.split(";") if part.strip()]
    return [re.search(r"(\w+)$", name.strip())[1] for part in declarations for name in part.split(",")]


@pytest.mark.parametrize(
    "dtype, struct", [(GRAPH, "Graph"), (SPACE, "Space"), (PIECE, "Piece"), (SEGMENT, "Segment")]
)
def test_mirrors_have_the_members_of_the_structs(dtype, struct):
    assert members(struct) == list(dtype.names)


def test_a_segment_has_the_bytes_that_the_model_counts():
    assert SEGMENT.itemsize == limits.SEGMENT_BYTES


def test_mirror_of_the_control_block():
    head = members("Head")
    assert head == list(CONTROL.names[: len(head)])
    assert list(CONTROL.names[len(head) :]) == [
        "decision", "arrived_blocks", "released", "level_found", "level_told", "level_leave", "level_heard",
        "levels_arrived", "level_reached", "trace",
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [GRAPH, SPACE, PIECE, SEGMENT, CONTROL])
def test_mirrors_are_packed_as_the_compiler_packs(dtype):
    """Every member lies at a multiple of its size, so no padding is hidden in the C++ structs."""
    for name in dtype.names:
        kind, offset = dtype.fields[name][:2]
        assert offset % kind.base.itemsize == 0, name
    assert dtype.itemsize % 8 == 0


IDENTITIES = [("min", min), ("max", max), ("add", lambda a, b: a + b), ("or", lambda a, b: a | b)]


@pytest.mark.parametrize("combine, merge", IDENTITIES)
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_an_empty_cell_changes_nothing(combine, merge, dtype):
    dtype = np.dtype(dtype)
    if combine == "or" and dtype.kind == "f":
        return
    empty = identity(combine, dtype)
    assert empty.dtype == dtype
    ends = (np.iinfo if dtype.kind != "f" else np.finfo)(dtype)
    for value in (dtype.type(0), dtype.type(5), ends.min, ends.max):
        value = dtype.type(value)
        assert merge(empty, value) == value
