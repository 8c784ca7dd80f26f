"""Sums in vector registers: strict floating point keeps LLVM from making vectors of an addition loop.

The order of the additions is written down, so the sum has the same bits on every machine, in every kernel.
"""

from __future__ import annotations

from gpop.common.atomics import element_pointer
from gpop.common.deferred import Later, intrinsic

ir, types = Later("llvmlite.ir"), Later("numba.types")

ROWS = LANES = 8


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
        row, double = ir.VectorType(stored, LANES), ir.VectorType(ir.DoubleType(), LANES)
        pointer = element_pointer(context, builder, sig, args)
        pointer = builder.bitcast(pointer, row.as_pointer())
        total = None
        for number in range(ROWS):
            place = builder.gep(pointer, [ir.Constant(ir.IntType(64), number)])
            found = builder.load(place, align=stored.get_abi_size(context.target_data))
            if whole:
                found = builder.sitofp(found, double) if signed else builder.uitofp(found, double)
            elif kind.bitwidth < 64:
                found = builder.fpext(found, double)
            total = found if total is None else builder.fadd(total, found)
        sums = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
        while len(sums) > 1:
            sums = [builder.fadd(one, other) for one, other in zip(sums[::2], sums[1::2], strict=True)]
        return sums[0]

    return types.float64(array, index), codegen
