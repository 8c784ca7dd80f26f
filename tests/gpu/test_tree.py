"""``mode="tree:FILE"`` on a GPU: the loop on the device takes what the tree says, as the CPU's does."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.gpu.emulator import emulated
from tests.quick import quick
from tests.trees import expected_modes, mode_of, random_tree, taken

RMAT = generate("rmat", scale=7, degree=4, seed=11, symmetrize=True, weights=(1, 9))
PATH = generate("grid", width=30, height=2)


def follows(tree, graph, tmp_path, **options):
    """The modes that a search on the device takes, which are those of the tree; levels are right."""
    expected = gpop.bfs(graph, 0, mode="sc", threads=1)
    found = gpop.bfs(
        graph, 0, target="gpu", mode=mode_of(tree, tmp_path), ratio=1.0, partition_size=32, **options
    )
    assert np.array_equal(found.level, expected.level) and found.run.mode == "tree"
    modes = expected_modes(tree, found.trace, graph)
    for record, mode in zip(found.trace, modes, strict=True):
        assert mode is None or taken(record) == {mode}
    return modes


@pytest.mark.parametrize("stepped", quick([False, True], False))
def test_random_trees_are_followed(tmp_path, stepped, monkeypatch):
    options = {"callback": lambda record: None} if stepped else {}
    switched = set()
    with emulated():
        for seed in range(6):
            for graph in (RMAT, PATH):
                switched |= {*follows(random_tree(np.random.default_rng(seed)), graph, tmp_path, **options)}
    assert switched >= {"sc", "pc", "pull"}
