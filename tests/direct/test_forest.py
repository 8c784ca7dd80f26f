"""The forest that threads link together: a link that came first is kept, and no link is a plain store."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gpop.common.inlined import KERNEL
from gpop.direct import forest

find, unite = (njit(**KERNEL)(function) for function in (forest.find, forest.unite))


@pytest.mark.parametrize("a, b", [(0, 2), (2, 0), (1, 3), (3, 1)])
def test_a_root_that_another_thread_has_linked_keeps_its_link(a, b):
    """As after a search that found the root 2 or 3, which another thread then put below 1 or 2."""
    parent = np.array([0, 1, 1, 2], np.uint32)
    before = [int(find(parent.copy(), np.uint64(v))) for v in range(4)]
    linked = {before[a], before[b]}
    root = unite(parent, np.uint64(a), np.uint64(b))
    assert root == min(linked)
    for v in range(4):
        assert find(parent, np.uint64(v)) == (root if before[v] in linked else before[v])


def test_roots_are_linked_by_compare_and_swap():
    parent = np.arange(4, dtype=np.uint32)
    assert unite(parent, np.uint64(3), np.uint64(1)) == 1
    assert parent.tolist() == [0, 1, 2, 1]
    assert "cmpxchg" in next(iter(unite.inspect_llvm().values()))
