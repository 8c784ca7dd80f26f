"""Types of calls that are searched for once: those that Numba finds, also after somebody adds a rule."""

from __future__ import annotations

import itertools
import operator

import numba
import numpy as np
import pytest
from numba.core import errors, types
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.extending import overload

from gpop.common import typing_faster
from gpop.common.deferred import compiler

NUMBERS = [
    types.int64,
    types.uint32,
    types.uint8,
    types.float32,
    types.float64,
    types.boolean,
    types.literal(3),
]
TWO = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.lshift,
    operator.lt,
    operator.eq,
    operator.iadd,
    max,
]
ONE = [bool, float, abs, operator.neg, operator.not_, operator.invert]


@pytest.fixture(autouse=True)
def installed():
    compiler()


def found(find, function, args):
    """The signature, if there is one, and what it is lowered by."""
    context = cpu_target.typing_context
    kind = context.resolve_value_type(function)
    try:
        signature = find(kind, context, args, {})
    except errors.TypingError:
        return None
    return signature, kind.get_impl_key(signature)


@pytest.mark.parametrize("function", [*TWO, *ONE], ids=lambda function: function.__name__)
def test_types_are_those_that_numba_finds(function):
    cpu_target.typing_context.refresh()
    some = 0
    for args in itertools.product(NUMBERS, repeat=2 if function in TWO else 1):
        wanted = found(typing_faster._find_call, function, args)
        for _ in range(2):
            got = found(typing_faster._find_call_once, function, args)
            assert got == wanted, args
        some += wanted is not None
    assert some > 3


def test_what_is_compiled_for_a_kernel_is_not_what_others_call():
    """A kernel counts no references; what is compiled for it is only a part of its caller."""

    def sum_of(x, y):
        raise NotImplementedError

    overload(sum_of)(lambda x, y: lambda x, y: x + y)
    cpu_target.typing_context.refresh()
    lowered = []
    for counts in (False, True, False):
        flags = Flags()
        flags.nrt = counts
        with ConfigStack().enter(flags):
            _, by = found(typing_faster._find_call_once, sum_of, (types.int16, types.uint16))
        lowered.append(by)
    assert lowered[0] is not lowered[1]


def test_a_type_as_a_function_is_made_once_and_is_the_same():
    context = cpu_target.typing_context
    context.refresh()
    kinds = [context.resolve_getattr(types.NumberClass(types.uint32), "__call__") for _ in range(2)]
    assert kinds[0] is kinds[1]
    other = context.resolve_getattr(types.NumberClass(types.int8), "__call__")
    assert other.get_call_type(context, (types.float64,), {}).return_type == types.int8

    @numba.njit
    def cast(x):
        return np.uint32(x), np.int8(x), np.uint32(True)

    assert cast(300.7) == (300, 44, 1)


def test_a_rule_that_is_added_is_followed():
    def twice(x):
        raise NotImplementedError

    @overload(twice)
    def of_whole_numbers(x):
        return (lambda x: 2 * x) if isinstance(x, types.Integer) else None

    @numba.njit
    def first(x):
        return twice(x)

    assert first(4) == 8
    with pytest.raises(numba.TypingError):
        first(1.5)

    @overload(twice)
    def of_floats(x):
        return (lambda x: x + x + 0.5) if isinstance(x, types.Float) else None

    @numba.njit
    def second(x):
        return twice(x)

    assert (second(1.5), second(4)) == (3.5, 8)
