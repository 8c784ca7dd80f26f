"""Decision trees on a device: whoever asks, one thread or one of every block, takes what the tree says."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.gpu.test_tree import follows
from tests.trees import mode_of, random_tree

pytestmark = pytest.mark.gpu

GRAPHS = {
    "rmat": lambda: generate("rmat", scale=15, symmetrize=True, weights=(1, 255)),
    "grid": lambda: generate("grid", width=400, height=90, weights=(1, 255)),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_random_trees_are_followed(kind, tmp_path):
    graph, switched = GRAPHS[kind](), set()
    for seed in range(12):
        tree = random_tree(np.random.default_rng(seed))
        for options in ({}, {"callback": lambda record: None} if kind == "rmat" else {}):
            switched |= {*follows(tree, graph, tmp_path, 1 << 12, **options)}
    assert switched >= {"sc", "pc", "pull"}


@pytest.mark.parametrize("kind", GRAPHS)
def test_distances_and_labels(kind, tmp_path):
    graph = GRAPHS[kind]()
    expected = gpop.sssp(graph, 0).distance, gpop.connected_components(graph).label
    for seed in range(4):
        mode = mode_of(random_tree(np.random.default_rng(seed)), tmp_path)
        with pytest.warns(RuntimeWarning, match="may choose pull"):
            distance = gpop.sssp(graph, 0, target="gpu", mode=mode).distance
        with pytest.warns(RuntimeWarning, match="may choose pull"):
            label = gpop.connected_components(graph, target="gpu", mode=mode).label
        assert np.array_equal(distance, expected[0]) and np.array_equal(label, expected[1])
