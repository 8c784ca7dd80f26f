"""gpop's own family: flags become options of its functions."""

from __future__ import annotations

import numpy as np

import gpop
from gpop.model.trees import read_tree
from perf import own
from tests.gpu.emulator import emulated
from tests.gpu.test_tree import RMAT
from tests.trees import taken


def test_a_mode_in_every_iteration_of_an_engine_that_switches():
    flags = {"target": "gpu", "ratio": 1.0, "partition_size": 32, own.ALWAYS: True}
    with emulated():
        for mode in ("sc", "pull"):
            prepared = own.prepare("bfs", RMAT, {"source": 0}, flags | {"mode": mode}, 1)
            result = prepared.call()
            assert all(taken(record) == {mode} for record in prepared.run(result).trace)
            assert np.array_equal(prepared.answer(result), gpop.bfs(RMAT, 0, threads=1).level)
    assert read_tree(own._tree_of("pull")).strategies == ("pull",)
    assert flags[own.ALWAYS]  # the caller's are as they were
