"""What ranks send, predicted from degrees, against what is counted on graphs whose edges know of no ranks."""

from __future__ import annotations

import pytest

from gpop.generate import generate
from gpop.graph.transform import relabel
from gpop.model.traffic import rmat_values_sent, values_sent
from perf.ranks import count


@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_values_are_what_is_counted(ranks):
    skewed = relabel(generate("rmat", scale=14, degree=8, seed=1), "random", seed=2)
    for graph in (skewed, generate("uniform", scale=14, degree=8, seed=3)):
        assert count(graph, ranks).values == pytest.approx(values_sent(graph.out_degree, ranks), rel=0.01)


def test_a_header_for_each_pair_and_values_in_words():
    assert count(generate("uniform", scale=10, degree=1, seed=1), 2).bytes % 8 == 0


def test_rmat_of_any_size_in_the_mean():
    graph = relabel(generate("rmat", scale=15, degree=16, seed=5), "random", seed=2)
    assert values_sent(graph.out_degree, 8) == pytest.approx(rmat_values_sent(15, 16, 8), rel=0.05)
