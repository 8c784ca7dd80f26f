"""Owners (kernels/in_edges.cuh) take message after message as plain Python does; on a warp of the host."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.gpu import limits
from gpop.gpu.device_tables import hub_tables
from tests import programs
from tests.gpu.cases import Letters, WeightedSums
from tests.gpu.host_warp import Warp
from tests.gpu.hub_programs import Bytes, Enough, FiveCounted, Order
from tests.programs import random_graph
from tests.quick import quick

PROGRAMS = {
    cls.__name__: (cls, np.dtype(np.uint32) if cls.applyWeight is not gpop.Program.applyWeight else None)
    for cls in (
        programs.Rumours, programs.WeightedRumours, programs.Colours, programs.Flag, programs.Smallest,
        WeightedSums, Letters, Bytes, Enough, FiveCounted, Order,
    )
}  # fmt: skip

# Vertices without in-edges, hubs of one and of several fetches, and a last tile that is not full.
N = 99
HEADS = np.concatenate([
    np.full(700, 40), np.full(300, 3), np.full(65, 98), np.random.default_rng(3).integers(5, 70, 500)
])  # fmt: skip
GRAPHS = {
    "skewed": gpop.Graph.from_edges(
        np.random.default_rng(4).integers(0, N, HEADS.size), HEADS, np.arange(HEADS.size) % 50 + 1, n=N
    ),
    "even": random_graph(5, 90, 600, weights=True),
    "one edge": gpop.Graph.from_edges([1], [0], [9], n=2),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def warp(request, tmp_path_factory):
    """A hub has more than 60 in-edges here."""
    before, limits.HUB = limits.HUB, 60
    yield Warp(*PROGRAMS[request.param], tmp_path_factory.mktemp("owner"))
    limits.HUB = before


def fields_of(cls, n):
    rng, fields = np.random.default_rng(9), {}
    for name, field in cls.vertex_fields().items():
        fields[name] = rng.integers(0, 2 if field.dtype == np.bool_ else 7, n).astype(field.dtype)
    return fields


def values_of(warp, fields, n):
    self = SimpleNamespace(**fields, out_degree=np.ones(n, np.uint32))
    return np.array([warp.cls.scatterFunc(self, np.uint32(v)) for v in range(n)], warp.emitted.message_dtype)


def gathered(warp, value, weight):
    if warp.emitted.defined.count("applyWeight"):
        value = warp.cls.applyWeight(None, value, weight)
    return warp.emitted.gathered_dtype.type(value)


def in_plain_python(warp, fields, messages, early):
    """Deliver (vertex, message) one after the other; the vertices that were activated."""
    self, activated = SimpleNamespace(**fields), set()
    with np.errstate(over="ignore"):
        for v, value in messages:
            if early and not warp.cls.needsFunc(self, v):
                continue
            if warp.cls.gatherFunc(self, value, v):
                activated.add(int(v))
    return activated


@pytest.mark.parametrize("share", quick([0.0, 0.1, 1.0], 0.1))
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_in_edges_in_order(warp, graph, share):
    ours, theirs = fields_of(warp.cls, graph.n), fields_of(warp.cls, graph.n)
    values = values_of(warp, ours, graph.n)
    active = (np.random.default_rng(1).random(graph.n) < share).astype(np.uint8)
    activated, turned = np.zeros(graph.n, np.uint8), graph.reverse()
    has_in = np.packbits(np.append(turned.out_degree > 0, np.zeros(32, bool)), bitorder="little")
    hubs = hub_tables(turned.out_degree, limits.HUB)["hub_vertex"]
    tables = {
        "n": graph.n, "hubs": len(hubs), "hub_vertex": hubs, "in_indptr": turned.indptr,
        "in_indices": turned.indices, "in_weights": turned.weights.astype(np.uint32),
        "has_in": has_in,
    }  # fmt: skip
    space = {"vertex_value": values, "active": active, "activated": activated}
    assert warp.run(ours, tables, space, 0, False) == 0
    messages = [
        (np.uint32(v), gathered(warp, values[turned.indices[e]], turned.weights[e].astype(np.uint32)))
        for v in range(graph.n)
        for e in range(turned.indptr[v], turned.indptr[v + 1])
        if active[turned.indices[e]]
    ]
    early = "needsFunc" in warp.emitted.defined
    wanted = in_plain_python(warp, theirs, messages, early)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert np.flatnonzero(activated).tolist() == sorted(wanted)
    assert activated.max(initial=0) <= 1


@pytest.mark.parametrize("counts", [(1,), (31, 32, 33), (256, 257, 5, 1000)])
def test_queues(warp, counts):
    """Every queue from its beginning to its count; the counts are 0 afterwards."""
    if len(warp.emitted.written) > 1:
        return  # such programs have no queues
    n, rng = 8, np.random.default_rng(2)
    ours, theirs = fields_of(warp.cls, n), fields_of(warp.cls, n)
    room = np.array(counts) + 3
    waiting = rng.integers(0, 2, int(room.sum())).astype(warp.emitted.gathered_dtype)
    vertices = np.array([6, 1, 4, 0][: len(counts)], np.uint32)
    called = np.arange(len(counts), dtype=np.uint32)[::-1].copy()
    first, count = np.append(0, np.cumsum(room)), np.array(counts, np.uint32)
    activated = np.zeros(n, np.uint8)
    space = {"activated": activated, "waiting": waiting, "waiting_count": count, "called": called}
    tables = {"n": n, "hubs": len(counts), "hub_vertex": vertices, "hub_first": first}
    messages = [(vertices[h], waiting[first[h] + i]) for h in called for i in range(counts[h])]
    assert warp.run(ours, tables, space, len(called), True) == 0
    wanted = in_plain_python(warp, theirs, messages, False)
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert np.flatnonzero(activated).tolist() == sorted(wanted)
    assert not count.any()
