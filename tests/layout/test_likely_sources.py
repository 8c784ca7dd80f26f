"""The two in-neighbours of every vertex that a search looks at first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpop.graph.graph import Graph
from gpop.layout.in_edges import in_edges
from gpop.layout.likely_sources import likely_sources


def bits(words, n):
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:n].astype(bool)


@given(st.integers(1, 150), st.lists(st.tuples(st.integers(0, 149), st.integers(0, 149)), max_size=400))
def test_they_are_those_with_most_out_edges(n, edges):
    tails, heads = np.array(edges, np.int64).reshape(-1, 2).T % n
    graph = Graph.from_edges(tails, heads, n=n)
    incoming, found = in_edges(graph, weighted=False), likely_sources(graph)
    counts = np.diff(incoming.indptr)
    assert np.array_equal(bits(found.some, n), counts > 0) and np.array_equal(bits(found.more, n), counts > 2)
    for v in range(n):
        sources = incoming.indices[incoming.indptr[v] : incoming.indptr[v + 1]]
        best = sources[np.argsort(-graph.out_degree[sources], kind="stable")][:2]
        assert found.pairs[2 * v : 2 * v + 2].tolist() == [*best.tolist(), v, v][:2]


def test_they_are_kept_and_dropped_with_the_graph():
    graph = Graph.from_edges([0, 1], [1, 0])
    assert likely_sources(graph) is likely_sources(graph)
    graph.drop("searches")
    assert not list(graph.kept())
