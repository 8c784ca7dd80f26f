"""What only becomes part of a loop is not finished by LLVM on its own."""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.core.codegen import CPUCodeLibrary

from gpop.common.inlined import KERNEL, inline


@inline
def _cube(x):
    return x * x * x


@inline
def _sum_of_cubes(values):
    total = np.int64(0)
    for value in values:
        total += _cube(value)
    return total


def _mean_of_cubes(values):
    return _sum_of_cubes(values) / values.size


def test_only_the_kernel_itself_is_optimised(monkeypatch):
    optimised = []
    original = CPUCodeLibrary._optimize_final_module

    def optimise(library):
        optimised.append(library.name)
        original(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", optimise)
    kernel = njit(**KERNEL)(_mean_of_cubes)
    assert kernel(np.arange(5)) == 20
    names = [name for name in optimised if "cube" in name]
    assert len(names) == 1 and "mean_of_cubes" in names[0], names
    assert len(kernel.inspect_llvm(kernel.signatures[0]).split("define ")) < 5  # the helpers are inside
