"""Breadth-first search on lists: levels as NetworkX finds them, trees that verify, both directions.

By several threads it is the same tree as by one, whenever they come.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpop.apps.bfs import BFSResult, verify
from gpop.common.parallel import for_each
from gpop.direct import breadth_first
from gpop.direct.breadth_first import search
from gpop.generate import generate
from gpop.graph.graph import Graph
from tests.apps import reference
from tests.graphs import small_graphs

GRAPHS = small_graphs()


def agrees(graph, source):
    found = search(graph, source)
    result = BFSResult(source=source, parent=found.parent, level=found.level, run=None)
    assert verify(graph, result, source) is None
    return np.array_equal(found.level, reference.levels(graph, source))


@pytest.mark.parametrize("name", GRAPHS)
def test_small_graphs(name):
    graph = GRAPHS[name]
    for source in range(0, graph.n, max(1, graph.n // 7)):
        assert agrees(graph, source)


@given(st.integers(1, 150), st.lists(st.tuples(st.integers(0, 149), st.integers(0, 149)), max_size=400))
def test_any_graph(n, edges):
    tails, heads = np.array(edges, np.int64).reshape(-1, 2).T % n
    graph = Graph.from_edges(tails, heads, n=n)
    assert agrees(graph, int(tails[0]) if len(tails) else 0)


@pytest.mark.parametrize("symmetrize", [False, True])
def test_most_edges_of_a_graph_with_hubs_are_never_looked_at(symmetrize):
    graph = generate("rmat", scale=12, degree=16, seed=5, symmetrize=symmetrize)
    source = int(graph.out_degree.argmax())
    push, pull = search(graph, source).edges
    assert agrees(graph, source)
    assert 0 < push < graph.m / 4 and 0 < pull < graph.m / 4


def test_a_road_is_pushed_until_little_is_left():
    grid = generate("grid", width=40, height=30)
    push, pull = search(grid, 0).edges
    assert agrees(grid, 0) and push > 0.9 * grid.m > 20 * pull


def test_three_edges_a_vertex_are_pulled_where_that_looks_at_fewer():
    leaves = np.arange(4, 5000)
    tails = np.concatenate([[0, 0, 0], *(np.full(leaves.size, hub) for hub in (1, 2, 3))])
    graph = Graph.from_edges(tails, np.concatenate([[1, 2, 3], leaves, leaves, leaves]))
    push, pull = search(graph, 0).edges
    assert push == 3
    assert leaves.size <= pull < 2 * leaves.size


def test_pull_push_and_pull_again():
    """Two dense parts with a path between them, of which the second is reached when the first is done."""
    size, path = 200, 30
    tails, heads = np.nonzero(~np.eye(size, dtype=bool))
    between = np.arange(size - 1, size + path)
    graph = Graph.from_edges(
        np.r_[tails, between, tails + size + path], np.r_[heads, between + 1, heads + size + path]
    ).symmetrize()
    for source in (0, size + path // 2, graph.n - 1):
        assert agrees(graph, source)
    push, pull = search(graph, 0).edges
    second = size * (size - 1)  # edges of the other dense part, which look for the first one in vain
    assert 0 < push < 3 * size and second <= pull < second + 3 * size


@pytest.mark.parametrize("leaves", [1, 3, 4, 5, 8, 15, 16, 17, 3000])
def test_lists_that_end_within_a_block_and_with_all_edges(leaves):
    """Lists of a hub and of the vertex after it; isolated vertices make blocks narrow."""
    tails = np.r_[np.zeros(leaves, int), np.ones(leaves, int)]
    heads = np.r_[np.arange(1, leaves + 1), np.arange(leaves + 1, 2 * leaves + 1)]
    for n in (2 * leaves + 1, 9 * leaves):
        graph = Graph.from_edges(tails, heads, n=max(n, 2 * leaves + 1))
        assert agrees(graph, 0)
        found = search(graph, 0)
        assert (found.level[: 2 * leaves + 1] == np.r_[0, tails + 1]).all()
        assert (found.parent[1 : 2 * leaves + 1] == tails).all()


def test_of_parents_that_are_found_together_the_least_is_taken():
    """Who is pushed to; a star that is out of reach has it so."""
    leaves = np.arange(7, 40)
    graph = Graph.from_edges(
        np.r_[0, 0, 0, 3, 2, 1, 2, np.full(leaves.size, 6)], np.r_[3, 2, 1, 4, 4, 5, 5, leaves]
    )
    found = search(graph, 0)
    assert found.parent[:6].tolist() == [0, 0, 0, 0, 2, 1] and found.edges.tolist() == [7, 0]


def test_searches_at_the_same_time_have_rooms_of_their_own():
    graph = generate("rmat", scale=10, degree=8, seed=3, symmetrize=True)
    graph.drop()
    expected = [search(graph, source).level for source in range(40)]
    found = [None] * 40
    for_each(40, lambda i: found.__setitem__(i, search(graph, i).level), 4)
    assert all(map(np.array_equal, found, expected))
    assert {kept.about for kept in graph.kept() if kept.kind == "searches"} == {"", "likely sources"}


def test_what_no_edge_leads_to_is_looked_at_no_more():
    """Most vertices have no in-edges, as in citations: the list of those that look has the others only."""
    rng = np.random.default_rng(3)
    graph = Graph.from_edges(rng.integers(0, 5000, 20_000), rng.integers(0, 300, 20_000), n=5000)
    source = int(graph.out_degree.argmax())
    assert agrees(graph, source)
    assert search(graph, source).edges.sum() < graph.m


def _edges(graph):
    return np.repeat(np.arange(graph.n), graph.out_degree), graph.indices


def test_how_many_may_be_found_decides_who_pulls():
    """Most vertices have no in-edges, as where people vote: were they counted, all would be pushed."""
    people = generate("uniform", scale=10, degree=32, seed=5)
    voters, (tails, heads) = people.n + np.arange(30_000), _edges(people)
    graph = Graph.from_edges(np.r_[tails, voters], np.r_[heads, voters % people.n])
    push, pull = search(graph, 0).edges
    assert agrees(graph, 0)
    assert push < people.m / 4 and pull > 0


def test_who_begins_in_reach_of_the_hub_does_not_look_at_the_others():
    """Triangles that nothing leads to are not looked at; a search in one of them finds it."""
    hubs = generate("rmat", scale=10, degree=16, seed=5, symmetrize=True)
    first, (tails, heads) = hubs.n + 3 * np.arange(5000), _edges(hubs)
    tails, heads = np.r_[tails, first, first + 1, first + 2], np.r_[heads, first + 1, first + 2, first]
    graph = Graph.from_edges(tails, heads).symmetrize()
    hub = int(hubs.out_degree.argmax())
    assert agrees(graph, hub) and agrees(graph, int(first[7]))
    assert search(graph, hub).edges[1] == search(hubs, hub).edges[1] > 0
    assert np.count_nonzero(search(graph, int(first[7])).level >= 0) == 3


def test_who_begins_out_of_reach_of_the_hub_finds_what_is_out_of_it():
    """Two dense parts, of which one has the hub; a vertex leads to both."""
    part = generate("uniform", scale=10, degree=32, seed=5)
    (tails, heads), n = _edges(part), part.n
    tails = np.r_[tails, tails + n, np.full(n, 1), 2 * n, 2 * n]
    graph = Graph.from_edges(tails, np.r_[heads, heads + n, np.arange(n), 1, n])
    assert agrees(graph, 2 * n) and search(graph, 2 * n).edges[1] > 0
    assert agrees(graph, n + 5) and search(graph, n + 5).edges[1] > 0


def _two_parts(size):
    """Random graphs of many edges with a path between them: push, pull, push, pull, and the way back."""
    parts = [generate("uniform", scale=13, degree=16, seed=seed) for seed in (1, 2)]
    tails = [np.repeat(np.arange(part.n), part.out_degree) for part in parts]
    n, path = parts[0].n, np.arange(parts[0].n - 1, parts[0].n + size)
    second = n + size
    return Graph.from_edges(
        np.r_[tails[0], path, tails[1] + second], np.r_[parts[0].indices, path + 1, parts[1].indices + second]
    )


SHARED = {
    "hubs": lambda: generate("rmat", scale=14, degree=16, seed=5, symmetrize=True),
    "one way": lambda: generate("rmat", scale=14, degree=8, seed=6),
    "few edges": lambda: generate("uniform", scale=15, degree=3, seed=7),
    "two parts": lambda: _two_parts(4),
}


@pytest.mark.parametrize("name", SHARED)
def test_by_several_threads_it_is_the_same_tree(name, monkeypatch):
    """Also where they are more than there are cores, so that some come late, or never."""
    graph = SHARED[name]()
    monkeypatch.setattr(breadth_first, "least_rest", lambda threads, n: 1 if threads > 1 else n)
    monkeypatch.setattr(breadth_first, "EDGES_EACH", 1)
    short = graph.m <= breadth_first.FEW * graph.n
    for source in (int(graph.out_degree.argmax()), 0, 77):
        expected = search(graph, source)
        assert expected.threads == 1
        for threads in (2, 3, 16, 2):
            for _ in range(6):
                found = search(graph, source, threads)
                least = breadth_first.least_level(threads, short)
                assert found.threads == threads or expected.edges.sum() < least
                assert np.array_equal(found.level, expected.level)
                assert np.array_equal(found.parent, expected.parent)
                assert np.array_equal(found.edges, expected.edges)


@pytest.mark.parametrize("name", ["hubs", "one way"])
def test_who_is_not_reached_has_no_parent_whatever_was_there(name, monkeypatch):
    """Whoever says so: one thread at the end, or before it pulls, or all, who begin with a push or a pull."""
    graph = SHARED[name]()
    room, n = breadth_first._room(graph), graph.n
    for source in (int(graph.out_degree.argmax()), 77, int(graph.out_degree.argmin())):
        expected = search(graph, source)
        for rest, edges in ((n, 1), (1, 1), (1, 1 << 40), (n // 2, 1)):
            parent, level = np.full(n, 7, np.uint32), np.full(n, 7, np.int32)
            room.have(16, parent, level)
            monkeypatch.setattr(breadth_first, "least_level", lambda *_, edges=edges: edges)
            called = room.search_together(source, parent, level, rest, 16)
            assert called == 1 or rest < n
            assert np.array_equal(parent.view(np.int32), expected.parent)
            assert np.array_equal(level, expected.level)


def test_a_crew_of_one_finds_the_same_tree(monkeypatch):
    graph = SHARED["two parts"]()
    expected = search(graph, 5)
    monkeypatch.setattr(breadth_first, "least_rest", lambda threads, n: 1)
    found = search(graph, 5, 1)
    assert np.array_equal(found.parent, expected.parent) and np.array_equal(found.edges, expected.edges)
    assert min(expected.edges) > 0


def test_many_threads_share_smaller_levels_than_two(monkeypatch):
    """No level has as many edges as two threads want; a level of many's size is shared at once."""
    monkeypatch.setattr(breadth_first, "mostly_near", lambda graph: False)  # else each has a part of all
    monkeypatch.setattr(breadth_first, "least_rest", lambda threads, n: 1)
    monkeypatch.setattr(breadth_first, "EDGES_EACH", 1)
    graph = generate("grid", width=600, height=600)
    alone, two, many = (search(graph, 0, threads) for threads in (1, 2, 8))
    assert (alone.threads, two.threads, many.threads) == (1, 1, 8)
    assert np.array_equal(alone.parent, many.parent)


def test_what_is_not_worth_it_one_thread_does_alone():
    assert search(generate("grid", width=40, height=30), 0, 16).threads == 1
    assert search(generate("rmat", scale=12, degree=16, seed=5), 1, 2).threads == 1
