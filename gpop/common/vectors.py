"""Several elements of an array at once, where the compiler takes them one by one.

Sums: strict floating point keeps LLVM from making vectors of an addition loop. The order of the additions is
written down, so the sum has the same bits on every machine, in every kernel. Words: a core has two or three
loads a cycle, but shifts and masks to spare.
"""

from __future__ import annotations

from gpop.common.atomics import element_pointer
from gpop.common.deferred import Later, intrinsic

ir, types = Later("llvmlite.ir"), Later("numba.types")

ROWS = LANES = 8

_WIDTH = 4
"""Lanes of a register. With eight, 64 bytes, an Intel core slows down: all else in an iteration took 1.1
times as long."""


@intrinsic
def sum_of_rows(typingctx, array, index):
    """The sum in float64 of `ROWS` times `LANES` numbers from ``array[index]`` on, one behind the other.

    Lane by lane, from the first row to the last; then lanes in pairs, pairs in pairs, and the two of those.
    """
    if array.layout != "C":
        return None
    kind = array.dtype
    whole = isinstance(kind, types.Integer | types.Boolean)
    signed = whole and getattr(kind, "signed", False)

    def codegen(context, builder, sig, args):
        stored = context.get_data_type(kind)
        part, double = ir.VectorType(stored, _WIDTH), ir.VectorType(ir.DoubleType(), _WIDTH)
        pointer = builder.bitcast(element_pointer(context, builder, sig, args), part.as_pointer())
        parts = LANES // _WIDTH
        totals: list = [None] * parts
        for number in range(ROWS * parts):
            place = builder.gep(pointer, [ir.Constant(ir.IntType(64), number)])
            found = builder.load(place, align=stored.get_abi_size(context.target_data))
            if whole:
                found = builder.sitofp(found, double) if signed else builder.uitofp(found, double)
            elif kind.bitwidth < 64:
                found = builder.fpext(found, double)
            before = totals[number % parts]
            totals[number % parts] = found if before is None else builder.fadd(before, found)
        lanes = [ir.Constant(ir.IntType(32), lane) for lane in range(_WIDTH)]
        sums = [builder.extract_element(total, lane) for total in totals for lane in lanes]
        while len(sums) > 1:
            sums = [builder.fadd(one, other) for one, other in zip(sums[::2], sums[1::2], strict=True)]
        return sums[0]

    return types.float64(array, index), codegen


@intrinsic
def word_at(typingctx, array, index):
    """The 64 bits from ``array[index]`` on as one number, the first element lowest (little-endian)."""
    if array.layout != "C":
        return None

    def codegen(context, builder, sig, args):
        word = builder.bitcast(element_pointer(context, builder, sig, args), ir.IntType(64).as_pointer())
        return builder.load(word, align=array.dtype.bitwidth // 8)

    return types.uint64(array, index), codegen
