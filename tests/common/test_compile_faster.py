"""What Numba is spared: the same results, and nothing imported or looked for that a kernel has no use for."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import base, event, ir
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction
from numba.core.typing.builtins import NumberClassAttribute
from numba.core.typing.npydecl import NumpyRulesArrayOperator

from gpop.common import compile_faster, typing_faster
from gpop.common.deferred import compiler

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


@pytest.fixture(autouse=True)
def installed():
    compiler()


def many_statements(values, pairs, n):
    total, (first, _), last = 0, pairs, {"a": n}
    for i in range(n):
        if values[i] > first and i not in last:
            values[i : i + 2], total = -values[i], total + max(values[i], pairs[0], 3)
        elif total:
            raise ValueError("many", i)
    return (total, [first, n], lambda x: x + n), values[0] if n else None


def test_variables_are_those_that_numba_lists():
    form = compiler().run_frontend(many_statements)
    statements = [each for block in form.blocks.values() for each in block.body]
    values = [getattr(each, "value", None) for each in statements]
    instructions = [*statements, *(each for each in values if isinstance(each, ir.Inst))]
    assert len(instructions) > 80 and any(len(each.list_vars()) > 2 for each in instructions)
    fast = [each.list_vars() for each in instructions]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ir.Inst, "_rec_list_vars", compile_faster._list_vars)
        assert fast == [each.list_vars() for each in instructions]


def test_rules_take_a_place_as_numba_says():
    context = cpu_target.target_context
    context.refresh()
    rules = [rule for known in context._defns.values() for _, rule in known.versions][::3]
    rules += [many_statements, lambda *loc: loc, lambda **loc: loc, lambda *, loc=None: loc, int, max, print]
    assert len(rules) > 300
    known = {True: 0, False: 0}
    for rule in rules:
        try:
            wanted = compile_faster._takes_place(rule)
        except ValueError:  # some of Python's own
            continue
        known[wanted] += 1
        assert compile_faster._takes_place_fast(rule) == wanted, rule
    assert min(known.values()) > 0, known


def test_an_error_says_where_it_was():
    @numba.njit
    def fails(n):
        return n + unknown_to_numba  # noqa: F821

    @numba.njit
    def calls(n):
        return fails(n) + "a"

    with pytest.raises(numba.TypingError, match=r"(?s)During: .*fails.*During: Pass nopython_type_inference"):
        calls(1)


def mixed(values, weights, n):
    total, most = np.uint64(0), 0.0
    for i in range(n):
        key = np.uint64(values[i]) << np.uint64(3) | np.uint64(i & 7)
        total += key if key > total else np.uint64(max(i, 3))
        if weights[i] > most or not values[i]:
            most = min(weights[i] * 2, float(i))
    return total, most, abs(-n)


def instructions_of(function):
    compiled = numba.njit(nogil=True)(function)
    signature = (numba.uint32[::1], numba.float64[::1], numba.int64)
    compiled.compile(signature)
    lines = compiled.inspect_asm(signature).splitlines()
    return [re.sub(r"_ZN\S+", "name", line) for line in lines if line.startswith("\t") and line[1] != "."]


def test_code_is_that_of_numba_as_it_is(monkeypatch):
    fast = instructions_of(mixed)
    monkeypatch.setattr(ir.Inst, "_rec_list_vars", compile_faster._list_vars)
    monkeypatch.setattr(base, "_has_loc", compile_faster._takes_place)
    monkeypatch.setattr(BaseFunction, "get_call_type", typing_faster._find_call)
    monkeypatch.setattr(NumberClassAttribute, "resolve___call__", typing_faster._resolve_call)
    monkeypatch.setattr(NumpyRulesArrayOperator, "generic", typing_faster._match_arrays)
    plain = instructions_of(mixed)
    assert len(plain) > 100 and fast == plain


class Noting(event.Listener):
    def __init__(self):
        self.noted = []

    def on_start(self, event):
        self.noted.append("start")

    def on_end(self, event):
        self.noted.append("end")


@pytest.mark.parametrize("kind", ["numba:llvm_lock", "numba:compiler_lock", "numba:compile"])
def test_who_listens_hears_what_happens(kind):
    listener, square = Noting(), numba.njit(lambda x: x * x)
    with event.install_listener(kind, listener):
        assert square(3) == 9
    assert listener.noted[0] == "start" and listener.noted[-1] == "end"
    assert listener.noted.count("start") == listener.noted.count("end")


def test_locks_are_not_timed():
    square = numba.njit(lambda x: x * x)
    assert square(np.int32(3)) == 9
    assert "llvm_lock" not in square.get_metadata(square.signatures[0]).get("timers", {})
