"""Nibble: the semantics of the paper."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.apps import reference


def test_one_step_by_hand():
    graph = gpop.Graph.from_edges([0, 0, 1, 2], [1, 2, 0, 0])
    assert gpop.nibble(graph, 0, iterations=1).probability.tolist() == [0.5, 0.25, 0.25]


def test_below_the_threshold_the_walk_rests_and_keeps_its_mass():
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3])
    after = [gpop.nibble(graph, 0, threshold=0.3, iterations=steps) for steps in (1, 2, 3, 4, 50)]
    assert [result.probability.tolist() for result in after] == [
        [0.5, 0.5, 0, 0],
        [0.25, 0.5, 0.25, 0],  # 0 and 2 rest
        [0.25, 0.25, 0.5, 0],  # 2 goes on
        [0.25, 0.25, 0.25, 0.25],
        [0.25, 0.25, 0.25, 0.25],
    ]
    assert after[-1].run.converged
    assert after[-1].run.iterations == 4


def test_a_vertex_at_the_threshold_is_active():
    """Both where it has sent half (0 in the second step) and where it has received (1)."""
    graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3])
    after = [gpop.nibble(graph, 0, threshold=0.5, iterations=steps) for steps in (1, 2)]
    assert [result.probability.tolist() for result in after] == [[0.5, 0.5, 0, 0], [0.25, 0.5, 0.25, 0]]
    assert after[0].run.frontier.tolist() == [0, 1]


@pytest.mark.parametrize("threshold", [1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize("mode", ["sc", "pc"])
def test_against_a_dense_walk(threshold, mode):
    graph = generate("rmat", scale=9, degree=6, seed=8)
    for seed in (0, 17, 200):
        result = gpop.nibble(graph, seed, threshold=threshold, iterations=12, mode=mode)
        expected = reference.nibble(graph, seed, threshold, 12)
        np.testing.assert_allclose(result.probability, expected, rtol=1e-5)
        assert result.values.sum(dtype=np.float64) == pytest.approx(1, abs=1e-5)


def test_small_graphs_have_some_partitions_for_all_threads():
    graph = generate("rmat", scale=9, degree=6, seed=8)
    assert [gpop.nibble(graph, 0, threads=threads).run.partitions for threads in (1, 2, 16)] == [4, 4, 16]


def test_small_neighbourhoods_are_always_source_centric():
    run = gpop.nibble(generate("grid", width=60, height=60), 0, threshold=1e-3).run
    assert not any(record["partitions_pc"] for record in run.trace)


def test_counted_work_depends_on_the_neighbourhood_only():
    """A graph ten times larger around the same seed, in larger and in more partitions."""
    counts = []
    for width in (128, 1024):
        graph = generate("grid", width=width, height=128)
        run = gpop.nibble(graph, 0, threshold=1e-3, mode="sc", partition_size=16 * width, counters=True).run
        assert run.counters["edges_scattered"] == run.trace.column("active_edges").sum()
        counts.append(
            {name: count for name, count in run.counters.items() if "edges" in name or "vertices" in name}
        )
    assert counts[0] == counts[1]
