"""What Numba is spared: the same results, and nothing imported or looked for that a kernel has no use for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import numpy as np
import numba
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from gpop.common.deferred import compiler
from gpop.common.inlined import KERNEL
compiler()

@numba.njit(**KERNEL)
def lean(values):
    total = 0
    for value in values:
        if value > 2:
            total += value
    return total

@numba.njit
def with_arrays(n):
    squares = [i * i for i in range(n)]
    values = np.array(squares) + np.arange(n)
    return values[values > 3].sum()

assert lean(np.arange(6)) == 12
assert "scipy.linalg" not in sys.modules, "SciPy was imported"
assert with_arrays(5) == 6 + 12 + 20, with_arrays(5)
counts = rtsys.get_allocation_stats()
assert counts.alloc == counts.free, counts
context = cpu_target.target_context
for name in ("int8", "float64", "intp"):
    kind = context.get_value_type(getattr(numba.types, name))
    assert context.get_abi_sizeof(kind) == kind.get_abi_size(context.target_data) == np.dtype(name).itemsize
product = numba.njit(lambda a: a @ a)(np.eye(3))
assert (product == np.eye(3)).all() and "scipy.linalg" in sys.modules
"""


@pytest.mark.slow
def test_kernels_do_what_they_did():
    counting = os.environ | {"NUMBA_NRT_STATS": "1"}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=counting, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
