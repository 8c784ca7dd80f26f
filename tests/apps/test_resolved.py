"""A way that is kept is for as many threads as there were cores: with others there is another."""

from __future__ import annotations

import os

import pytest

import gpop
from gpop.generate import generate


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not place processes")
@pytest.mark.parametrize("call", [gpop.pagerank, lambda graph: gpop.nibble(graph, 5)])
def test_cores_may_come_and_go(call):
    graph, cores = generate("rmat", scale=9, seed=1), os.sched_getaffinity(0)
    found = []
    try:
        for allowed in (cores, {min(cores)}, cores):
            os.sched_setaffinity(0, allowed)
            found.append([call(graph).run.threads for _ in range(3)])
    finally:
        os.sched_setaffinity(0, cores)
    most = len(cores)
    assert found == [[most] * 3, [1] * 3, [most] * 3]
