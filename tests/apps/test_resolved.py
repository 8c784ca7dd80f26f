"""A way that is kept is for as many threads as a process may have: with others there is another."""

from __future__ import annotations

import pytest

import gpop
from gpop.generate import generate


@pytest.mark.parametrize("call", [gpop.pagerank, lambda graph: gpop.nibble(graph, 5)])
def test_cores_may_come_and_go(call, monkeypatch):
    graph, found = generate("rmat", scale=9, seed=1), []
    for threads in (3, 1, 3):
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
        found.append([call(graph).run.threads for _ in range(3)])
    assert found == [[3] * 3, [1] * 3, [3] * 3]
