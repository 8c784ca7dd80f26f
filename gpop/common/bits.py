"""Bits of a word that a mask chooses: put together at the lower end, and put back to their places.

One instruction each where the processor has them (``pext`` and ``pdep`` of x86's BMI2), else a loop over the
bits of the mask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpop.common.deferred import Later, intrinsic

ir, types, cgutils = Later("llvmlite.ir"), Later("numba.types"), Later("numba.core.cgutils")

FEATURE = "+bmi2"


def _mover(apart: bool) -> Callable:
    """Loop over the places that are set in ``mask``: from them to the lower end, or ``apart`` back to them.

    Examples
    --------
    >>> bin(together(np.uint64(0b100100), np.uint64(0b110100)))
    '0b101'
    >>> bin(apart(np.uint64(0b101), np.uint64(0b110100)))
    '0b100100'
    """

    def move(word, mask):
        found, bit, zero = np.uint64(0), np.uint64(1), np.uint64(0)
        while mask > zero:
            place = mask & (~mask + np.uint64(1))
            if word & (bit if apart else place):
                found |= place if apart else bit
            bit <<= np.uint64(1)
            mask ^= place
        return found

    return move


together, apart = _mover(False), _mover(True)


def _instruction(name: str, otherwise: Callable) -> tuple[Any, Callable]:
    """An instruction where code is made for a processor that has it."""
    signature = types.uint64(types.uint64, types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if FEATURE not in context.codegen().magic_tuple()[2]:
            return context.compile_internal(builder, otherwise, sig, args)
        word = ir.IntType(64)
        function_type = ir.FunctionType(word, [word, word])
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), args)

    return signature, codegen


@intrinsic
def extract(typingctx, word, mask):
    """`together`."""
    return _instruction("llvm.x86.bmi.pext.64", together)


@intrinsic
def deposit(typingctx, word, mask):
    """`apart`."""
    return _instruction("llvm.x86.bmi.pdep.64", apart)
