"""Which gatherFunc is a minimum or a maximum (gpop.program.extreme), and what a GPU makes of one."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.gpu.kernel import make_source
from gpop.program.extreme import extreme_of
from tests.gpu.emulator import emulated
from tests.gpu.test_device_types import least
from tests.programs import random_graph

FORMS = {
    "if x < self.a[v]:\n  self.a[v] = x\n  return True\n return False": "min",
    "if self.a[v] > x:\n  self.a[v] = x\n  return True\n return False": "min",
    "if x > self.a[v]:\n  self.a[v] = x\n  return True\n return False": "max",
    "if self.a[v] < x:\n  self.a[v] = x\n  return True\n return False": "max",
    "'Said.'\n if x < self.a[v]:\n  self.a[v] = x\n  return True\n else:\n  return False": "min",
    "if x <= self.a[v]:\n  self.a[v] = x\n  return True\n return False": None,
    "if x < self.a[v]:\n  self.b[v] = x\n  return True\n return False": None,
    "if x < self.a[v]:\n  self.a[x] = v\n  return True\n return False": None,
    "if x < self.a[v]:\n  self.a[v] = x\n  return True\n return True": None,
    "if x < self.a[v]:\n  self.a[v] = x\n  return False\n return True": None,
    "if x < self.a[v]:\n  self.a[v] = x\n  return True": None,
    "if x < self.a[v]:\n  self.a[v] = x + 1\n  return True\n return False": None,
    "if v < self.a[x]:\n  self.a[x] = v\n  return True\n return False": None,
    "if x < v:\n  self.a[v] = x\n  return True\n return False": None,
    "return x < self.a[v]": None,
}


@pytest.mark.parametrize("body", FORMS)
def test_forms(body):
    names: dict = {}
    exec(f"def gatherFunc(self, x, v):\n {body}", names)
    assert extreme_of(names["gatherFunc"]) == FORMS[body]


def test_more_arguments_are_another_function():
    def gatherFunc(self, x, v, more=0):
        if x < self.a[v]:
            self.a[v] = x
            return True
        return False

    assert extreme_of(gatherFunc) is None


class Most(least(np.int32)):
    """A maximum."""

    def gatherFunc(self, value, node):
        if value > self.value[node]:
            self.value[node] = value
            return True
        return False


TYPES = {np.uint32: 1, np.int64: 1, np.uint16: 0, np.float32: 0}
"""A minimum of these: what kernels are compiled with; none for shorter words, and for floats."""

KINDS = {**{np.dtype(dtype).name: (least(dtype), code) for dtype, code in TYPES.items()}, "most": (Most, 2)}


@pytest.mark.parametrize("name", KINDS)
def test_what_a_gpu_makes_of_it(name, monkeypatch):
    """The same as Python, by one instruction where there is one."""
    kind, code = KINDS[name]
    sources = []

    def watched(*said):
        sources.append(make_source(*said))
        return sources[-1]

    monkeypatch.setattr("gpop.gpu.prepared.make_source", watched)
    graph = random_graph(3, 300, 900)
    given = np.random.default_rng(5).permutation(graph.n) - (200 if name == "int64" else 0)
    found = {}
    for target in ("python", "gpu"):
        program = kind(graph)
        program.value[:] = given
        with emulated():
            gpop.run(program, target=target, mode="sc")
        found[target] = program.value.copy()
    assert np.array_equal(found["python"], found["gpu"])
    assert sources and all(f"#define EXTREME {code}\n" in source for source in sources)
