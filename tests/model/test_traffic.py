"""What ranks send, predicted from degrees, against what is counted on graphs whose edges know of no ranks."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.graph.transform import relabel
from gpop.model.traffic import grid_values_sent, rmat_values_sent, values_sent
from perf.ranks import count, count_grid


@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_values_are_what_is_counted(ranks):
    skewed = relabel(generate("rmat", scale=14, degree=8, seed=1), "random", seed=2)
    for graph in (skewed, generate("uniform", scale=14, degree=8, seed=3)):
        assert count(graph, ranks).values == pytest.approx(values_sent(graph.out_degree, ranks), rel=0.01)


def test_a_grid_sends_what_is_counted():
    skewed = relabel(generate("rmat", scale=14, degree=8, seed=1), "random", seed=2)
    in_degrees = np.bincount(skewed.indices, minlength=skewed.n)
    for ranks in (4, 6, 16):
        expected = grid_values_sent(skewed.out_degree, in_degrees, ranks)
        assert count_grid(skewed, ranks).values == pytest.approx(expected, rel=0.01)


def test_a_hub_is_on_one_rank_or_on_a_row_of_the_grid():
    rng = np.random.default_rng(4)
    ends = np.column_stack([rng.permutation(1 << 14), np.where(np.arange(1 << 14) < 1 << 13, 7, 0)])
    ends[1 << 13 :, 1] = rng.integers(0, 1 << 14, 1 << 13)
    graph = gpop.Graph.from_edges(*ends.T)
    assert count(graph, 16).balance > 8
    assert count_grid(graph, 16).balance < 4


def test_a_header_for_each_pair_and_values_in_words():
    assert count(generate("uniform", scale=10, degree=1, seed=1), 2).bytes % 8 == 0


def test_rmat_of_any_size_in_the_mean():
    graph = relabel(generate("rmat", scale=15, degree=16, seed=5), "random", seed=2)
    assert values_sent(graph.out_degree, 8) == pytest.approx(rmat_values_sent(15, 16, 8), rel=0.05)
