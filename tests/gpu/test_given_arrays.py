"""Fields that are arrays of a device, of whatever library: a run works in them, and leaves them there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS, NOT_REACHED
from gpop.gpu import limits
from tests.gpu.emulator import emulated
from tests.gpu.host_kernels import Array
from tests.programs import random_graph


class Tensor:
    """What a tensor of PyTorch looks like: a type of its own, and nothing of NumPy's but the interface."""

    dtype = "torch.int32"

    def __init__(self, memory: np.ndarray, **said: Any) -> None:
        self.memory = memory
        self.said = {
            "shape": memory.shape, "typestr": memory.dtype.str, "data": (memory.ctypes.data, False),
            "version": 2, **said,
        }  # fmt: skip

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.said

    @property
    def data(self) -> Tensor:
        return self

    def __len__(self) -> int:
        return len(self.memory)


@pytest.mark.parametrize("room", [0, 1 << 12])
def test_a_run_works_in_a_tensor(room, monkeypatch):
    monkeypatch.setattr(limits, "ONE_BLOCK", room)
    graph = random_graph(5, 60, 200)
    with emulated():
        for source in (3, 4, 5):
            expected = gpop.bfs(graph, source)
            program = BFS(graph)
            program.level = tensor = Tensor(np.full(graph.n, -1, np.int32))
            program.parent[source], tensor.memory[source] = source, 0
            gpop.run(program, [source], target="gpu", ratio=1.0)
            assert program.level is tensor
            assert np.array_equal(tensor.memory, expected.level)
            assert np.array_equal(program.parent == NOT_REACHED, expected.parent < 0)


@pytest.mark.parametrize("said", [{"strides": (8,)}, {"data": (0, True)}], ids=["gaps", "constant"])
def test_what_a_run_cannot_work_in_is_refused(said):
    program = BFS(random_graph(5, 60, 200))
    with pytest.raises(gpop.UsageError, match="^field level: a device array with gaps, or that may not be"):
        program.level = Tensor(np.zeros(60, np.int32), **said)
    with pytest.raises(
        gpop.UsageError, match=r"^field parent: a device array of int32\(60,\): expected uint32"
    ):
        program.parent = Tensor(np.zeros(60, np.int32))


class Elsewhere(Array):
    """An array of a second device."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data, device_id=1)


@pytest.mark.parametrize("room", [0, 1 << 12])
def test_an_array_of_another_device_is_refused(room, monkeypatch):
    monkeypatch.setattr(limits, "ONE_BLOCK", room)
    graph = random_graph(5, 60, 200)
    with emulated():
        for kind in (Elsewhere, Array, Elsewhere):
            program = BFS(graph)
            program.level = level = np.full(graph.n, -1, np.int32).view(kind)
            program.parent[3], level[3] = 3, 0
            if kind is Array:
                gpop.run(program, [3], target="gpu", ratio=1.0)
                continue
            with pytest.raises(
                gpop.UsageError, match="^field level: an array of device 1: expected one of dev"
            ):
                gpop.run(program, [3], target="gpu", ratio=1.0)
