"""Calls of C functions from compiled code by their address, which is a number: nothing about it is kept.

Numba can call a function of ctypes, but then does not keep the kernel on disk, because the address is another
one in the next process. Here the address is an argument.
"""

from __future__ import annotations

from gpop.common.deferred import Later, intrinsic

ir, types, cgutils = Later("llvmlite.ir"), Later("numba.types"), Later("numba.core.cgutils")


@intrinsic
def call_c(typingctx, address, arguments):
    """Call the C function at ``address``, which returns an int or nothing, with a tuple of at most 8 int64.

    A pointer is its address. A parameter of type int takes the lower half of its argument; both ABIs that
    Numba knows on 64-bit Linux (System V, AAPCS64) pass it in the same place. Where nothing comes back, what
    this returns means nothing.
    """
    signature = types.int32(types.int64, types.UniTuple(types.int64, len(arguments)))

    def codegen(context, builder, sig, args):
        word = ir.IntType(64)
        function = ir.FunctionType(ir.IntType(32), [word] * len(arguments))
        pointer = builder.inttoptr(args[0], function.as_pointer())
        return builder.call(pointer, cgutils.unpack_tuple(builder, args[1]))

    return signature, codegen
