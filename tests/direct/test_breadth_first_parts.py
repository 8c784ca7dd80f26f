"""Search of roads by threads that have halves, or parts, of every level: the tree of one thread, always."""

from __future__ import annotations

from functools import cache
from threading import Thread

import numpy as np
import pytest
from numba import njit

from gpop.direct import breadth_first, breadth_first_halves, breadth_first_parts
from gpop.direct.breadth_first import search
from gpop.direct.breadth_first_steps import DEPTH, FROM, TO
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.model.sharing import MANY_THREADS, MOST_PARTS
from tests.quick import quick

PARTED = {
    "grid": lambda: generate("grid", width=90, height=40),
    "road": lambda: generate("road", width=60, height=60, seed=3),
    "path": lambda: generate("grid", width=3000, height=1),
    # Whose parts meet everywhere.
    "random": lambda: generate("uniform", scale=13, degree=1, seed=4, symmetrize=True),
    "one way": lambda: generate("uniform", scale=13, degree=3, seed=5),
}


@pytest.fixture
def parted(monkeypatch):
    """As if every graph with few edges were a large road."""
    monkeypatch.setattr(breadth_first, "mostly_near", lambda graph: True)
    monkeypatch.setattr(breadth_first, "least_rest", lambda threads, n: 1 if threads > 1 else n)


@pytest.mark.parametrize("name", PARTED)
def test_by_parts_it_is_the_same_tree(name, parted, monkeypatch):
    monkeypatch.setattr(breadth_first, "EDGES_EACH", 1)
    graph = PARTED[name]()
    for source in (int(graph.out_degree.argmax()), 0, graph.n - 1):
        expected = search(graph, source)
        for threads in (2, 3, 12):
            for _ in range(6):
                found = search(graph, source, threads)
                called = 2 if threads < MANY_THREADS else min(threads, MOST_PARTS)
                assert found.threads == called or (expected.level >= 0).sum() < 100 or name == "path"
                assert np.array_equal(found.level, expected.level)
                assert np.array_equal(found.parent, expected.parent)
                assert np.array_equal(found.edges, expected.edges)


def triangles(width: int, height: int) -> Graph:
    """Points of a plane: the grid and its diagonals one way, so that inner vertices have six neighbours."""
    v = np.arange(width * height).reshape(height, width)
    pairs = ((v[:, :-1], v[:, 1:]), (v[:-1], v[1:]), (v[:-1, :-1], v[1:, 1:]))
    tails, heads = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return Graph.from_edges(np.append(tails, heads), np.append(heads, tails), n=v.size)


def test_by_halves_a_mesh_has_the_same_tree():
    """Though it has few vertices, and its lists are no road's."""
    graph = triangles(20, 200)
    for source in (0, 1990, graph.n - 1):
        expected, found = search(graph, source), search(graph, source, 2, few=True)
        assert graph.facts.mesh and (expected.threads, found.threads) == (1, 2)
        for field in ("parent", "level", "edges"):
            assert np.array_equal(getattr(found, field), getattr(expected, field))
        assert search(graph, source, 2).threads == 1


@pytest.mark.parametrize("kind", ["few levels", "a long list"])
def test_what_is_no_mesh(kind):
    graph = triangles(60, 60 if kind == "few levels" else 100)
    if kind == "few levels":
        graph = generate("small_world", vertices=graph.n, degree=6, seed=1)
    else:
        hub = np.arange(33)
        tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr.astype(np.int64)))
        graph = Graph.from_edges(np.append(tails, hub * 0), np.append(graph.indices, hub), n=graph.n)
    assert search(graph, 0, 2, few=True).threads == 1 and graph.facts.mesh is False


def test_others_have_parts(parted):
    """Sooner or later: nobody waits for who does not come."""
    graph = generate("grid", width=200, height=200)
    for _ in range(500):
        search(graph, 0, MANY_THREADS)
        (room,) = graph.store.get(Kind.SEARCHES)
        if room.beside.parts[breadth_first_parts.WRITTEN] > 0:
            return
    pytest.fail("nobody ever came")


def test_nobody_tells_what_others_have_not_heard():
    """Half a ring after somebody has heard the last time, who is ahead waits."""
    parts, half = np.zeros(breadth_first_parts.SLOTS, np.int64), breadth_first_parts._RING // 2
    ahead = njit(nogil=True)(breadth_first_parts._keep_up)
    ahead(0, half, 2, parts)
    waits = Thread(target=ahead, args=(0, 2 * half, 2, parts))
    waits.start()
    waits.join(0.05)
    assert waits.is_alive()
    parts[breadth_first_parts.HEARD + breadth_first_parts._LINE] = half
    waits.join()


compiled = cache(njit)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_two_parts_find_is_the_first_ones_whoever_is_quicker(order):
    """Vertices 0 and 1 are the two parts of a level and lead to 2."""
    graph, push = Graph.from_edges([0, 1], [2, 2], n=3), compiled(breadth_first_parts._push)
    space, parent = breadth_first._room(graph).space, np.zeros(3, np.uint32)
    mark = [16, 17, breadth_first_parts.UNSEEN]
    level, rows = np.array(mark, np.int32), np.zeros((2, 64), np.uint64)
    lists = np.array([[0], [1 << 32 | 1]], np.uint64)
    ends = {}
    for part in order:
        where = np.uint64(0), np.uint64(1), lists[part], np.int32(mark[part]), np.uint64(0), rows[part]
        ends[part], edges = push(*where, np.int32(32 + part), space, parent, level)
        assert edges == 1
    assert level[2] == 32 and ends == {0: 1, 1: order[0]}  # the second one finds nothing, or loses it
    for part in (1, 0):
        where = np.uint64(0), np.uint64(ends[part]), rows[part], np.int32(32 + part), np.uint64(0), rows[part]
        push(*where, np.int32(48 + part), space, parent, level)
    assert parent.tolist() == [0, 1, 0]


@pytest.mark.parametrize("module", quick([breadth_first_halves, breadth_first_parts], breadth_first_parts))
@pytest.mark.parametrize("name", PARTED)
def test_the_leader_finds_the_tree_where_nobody_comes(name, module, parted):
    graph = PARTED[name]()
    source = int(graph.out_degree.argmax())
    expected = search(graph, source)
    room, alone = breadth_first._room(graph), compiled(module._lead)
    parent, level = np.full(graph.n, 7, np.uint32), np.full(graph.n, 7, np.int32)
    room.have(2, parent, level)
    space = room.space
    room.beside.halves[:] = room.beside.parts[:] = 0
    space.seen[:] = space.tally[:] = 0
    space.seen[source], space.order[0] = 1, source << 32 | source
    space.left_off[[FROM, TO, DEPTH]] = 0, 1, 0
    alone(room.beside, space, parent, level)
    assert np.array_equal(parent.view(np.int32), expected.parent)
    assert np.array_equal(level, expected.level)
    assert space.tally[0] == expected.edges[0]


def test_whether_it_is_kept_is_looked_up_no_more_once_it_is_there(monkeypatch):
    """A call that asks takes microseconds."""
    search(triangles(20, 200), 0)
    search(triangles(20, 200), 0, 2, few=True)
    monkeypatch.setattr(breadth_first, "_room", lambda graph: pytest.fail("a room was made"))
    assert breadth_first.is_kept()
