"""Reads and writes of memory by its address, in kernels that work on arrays of any type and number.

A kernel that is given its arrays by a list of addresses is compiled once, whatever they hold.
"""

from __future__ import annotations

from gpop.common.deferred import Later, intrinsic

ir, types = Later("llvmlite.ir"), Later("numba.types")


def _place(context, builder, value_type, address, index):
    """Pointer to element ``index`` of what lies at an address."""
    pointer = builder.inttoptr(address, context.get_value_type(value_type).as_pointer())
    return builder.gep(pointer, [index])


@intrinsic
def write_at(typingctx, address, index, value):
    """``array[index] = value`` of the array at this address, whose elements are of the type of the value."""
    signature = types.void(types.int64, types.int64, value)

    def codegen(context, builder, sig, args):
        builder.store(args[2], _place(context, builder, value, args[0], args[1]))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def read_at(typingctx, address, index, like):
    """``array[index]`` of the array at this address, whose elements are of the type of ``like``."""
    signature = like(types.int64, types.int64, like)

    def codegen(context, builder, sig, args):
        return builder.load(_place(context, builder, like, args[0], args[1]))

    return signature, codegen


@intrinsic
def as_float(typingctx, word):
    """The float64 that has the bits of an int64: a view of an array takes longer to compile than its loop."""

    def codegen(context, builder, sig, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen
