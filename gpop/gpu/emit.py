"""A checked program as CUDA C++: ``struct State`` and one ``__device__`` function per user function.

The text is made from Numba's typed form of the same functions that the CPU compiles (`typed_ir`), so
integer and floating semantics are Numba's. Fields are reached through methods, ``self.distance(node)``,
and the functions take any ``Self`` that has them: the engine may pass a state that keeps a field in
shared memory, or `Copy`, on which ``gatherFunc`` runs before a compare-and-swap puts the result back.

Arithmetic follows the CPU bit for bit only when the compiler does not contract ``a * b + c``: compile
with ``--fmad=false``. Exponentials, logarithms and the like are the target's own. What the CPU leaves open
may differ: comparing a signed sum or product that overflowed, and where Numba would raise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpop.program.lowering import Lowered
from gpop.program.program import Program


class Emitted(NamedTuple):
    """A program in CUDA C++.

    ``source`` is `State`, `Copy` and the functions, to be compiled after `semantics`; ``message_dtype`` is
    what ``scatterFunc`` sends and ``gathered_dtype`` what ``gatherFunc`` gets; ``written`` are the fields
    that ``gatherFunc`` stores to; ``defined`` the functions that exist; ``state_dtype`` the layout of
    `State` (pointers as uint64), by the names of the program; ``written_dtypes`` the types of ``written``.
    """

    source: str
    message_dtype: np.dtype
    gathered_dtype: np.dtype
    written: tuple[str, ...]
    defined: tuple[str, ...]
    state_dtype: np.dtype
    written_dtypes: tuple[np.dtype, ...]


def semantics() -> str:
    """The text that every emitted source needs before it."""
    return (Path(__file__).parent / "semantics.cuh").read_text()


def emit(cls: type[Program], lowered: Lowered, weight_dtype: Any = None) -> Emitted:
    """CUDA C++ of a checked program.

    Parameters
    ----------
    cls : Program class
    lowered : Lowered
        What `gpop.program.lowering.lower` made of it.
    weight_dtype : NumPy scalar type, optional
        Type of the edges' weights; None for a graph without, where ``applyWeight`` is not called.

    Returns
    -------
    Emitted

    Raises
    ------
    ProgramError
        Naming the user's file, line and the construct that has no counterpart.

    Examples
    --------
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node + 1
    ...     def gatherFunc(self, value, node):
    ...         return value > 0
    >>> from gpop.program.lowering import lower
    >>> emit(Sum, lower(Sum)).message_dtype
    dtype('int64')
    """
    from gpop.gpu.source import Emitter

    return Emitter(cls, lowered).run(weight_dtype)
