"""Edges in pairs: every list as it is in the graph, and an even number of lines."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.layout.edge_pairs import edge_pairs
from gpop.model.light_first import FARTHEST
from tests.apps import reference
from tests.graphs import small_graphs

GRAPHS = small_graphs()


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_lists(name, dtype):
    graph = GRAPHS[name]
    graph = reference.with_weights(graph, (np.arange(graph.m) % 100).astype(dtype))
    starts, lines = edge_pairs(graph, FARTHEST)
    assert len(starts) == graph.n + 1 and len(lines) == 2 * starts[-1]
    for v in range(graph.n):
        first, last = graph.indptr[v], graph.indptr[v + 1]
        own, size = lines[2 * starts[v] : 2 * starts[v + 1]].tolist(), int(last - first)
        edges = zip(graph.weights[first:last].tolist(), graph.indices[first:last].tolist(), strict=True)
        assert own[:size] == [weight << 32 | neighbour for weight, neighbour in edges]
        assert own[size:] == [FARTHEST << 32 | int(each) for each in graph.indices[last - size % 2 : last]]
    assert edge_pairs(graph, FARTHEST)[1] is lines
