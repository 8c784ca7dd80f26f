"""The tournament of partitions against the smallest of a list, and how much of the tree it looks at."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.cpu import tournament
from gpop.cpu.tournament import HIGHEST, tree_size


@njit
def change_key(tree, p, key):
    return tournament.change_key(tree, p, key)


@njit
def list_smallest(tree, out):
    return tournament.list_smallest(tree, out)


@pytest.mark.parametrize("partitions", [1, 2, 3, 16, 100, 1000])
def test_smallest_keys_in_ascending_order(partitions):
    rng = np.random.default_rng(partitions)
    tree, keys = np.full(tree_size(partitions), HIGHEST), np.full(partitions, HIGHEST)
    out = np.zeros(partitions, np.int64)
    height = (partitions - 1).bit_length()
    for _ in range(2000):
        p = int(rng.integers(partitions))
        keys[p] = HIGHEST if rng.random() < 0.2 else rng.integers(-5, 30)
        assert 1 <= change_key(tree, p, keys[p]) <= height + 1
        assert tree[1] == keys.min()
        if tree[1] < HIGHEST:
            size, steps = list_smallest(tree, out)
            assert out[:size].tolist() == np.flatnonzero(keys == keys.min()).tolist()
            assert steps <= 2 * size * height + 1
