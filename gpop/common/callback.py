"""Kernels that other kernels call by their address: compiled by themselves, and not into their callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gpop.common.cached import keep_callback

WORD = ir.IntType(64)


def callback(function: Callable, name: str, arguments: int, **options: Any) -> int:
    """Address of a function of so many int64 that returns nothing; it is kept under the name."""
    return keep_callback(function, name, ((types.int64,) * arguments, types.void), **options).address


@intrinsic
def call(typingctx, address, arguments):
    """Call what lies at ``address`` with a tuple of int64."""
    count = arguments.count
    signature = types.void(types.int64, types.UniTuple(types.int64, count))

    def codegen(context, builder, signature, values):
        kind = ir.FunctionType(ir.VoidType(), [WORD] * count)
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [builder.extract_value(values[1], i) for i in range(count)])
        return context.get_dummy_value()

    return signature, codegen
