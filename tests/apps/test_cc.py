"""Connected components: weak ones, also of directed graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpop
from gpop.apps.cc import verify
from gpop.generate import generate
from tests.apps import reference


def test_a_directed_graph_is_made_symmetric_once():
    graph = gpop.Graph.from_edges([3, 1, 4], [2, 2, 5], n=7)
    result = gpop.connected_components(graph)
    assert result.label.tolist() == [0, 1, 1, 1, 4, 4, 6]
    assert (result.count, result.symmetrized) == (4, True)
    kept = graph.cache["symmetric"]
    gpop.connected_components(graph)
    assert graph.cache["symmetric"] is kept


def test_a_symmetric_graph_is_used_as_it_is():
    grid = generate("grid", width=5, height=4)
    result = gpop.connected_components(grid)
    assert (result.count, result.symmetrized) == (1, False)
    assert not result.label.any()


@pytest.mark.parametrize("interleave", [False, True])
def test_many_components(interleave):
    rng = np.random.default_rng(3)
    graph = gpop.Graph.from_edges(*rng.integers(0, 2000, (2, 1200)), n=2000)
    result = gpop.connected_components(graph, interleave=interleave, partition_size=64)
    assert np.array_equal(result.label, reference.smallest_labels(graph))
    assert verify(graph, result) is None


def test_verify_sees_faults():
    graph = gpop.Graph.from_edges([0, 3], [1, 4], n=5)
    result = gpop.connected_components(graph)
    wrong = result.label.copy()
    wrong[4] = 4
    assert "1 labels are not the smallest" in verify(graph, replace(result, label=wrong))
    assert "SciPy finds 3" in verify(graph, replace(result, count=2))
