"""How functions are compiled that only become part of others: typed and lowered, but not optimised.

Numba finishes every function that it meets: LLVM optimises it together with all that it calls and makes
machine code of it, and then does the same again for its caller. A helper that nobody calls by itself needs
none of this: it is optimised once, as part of the loop that it is inlined into. Where Numba is not what
this was written for, the function is compiled as any other: the same result, later. How Numba does so is in
inlined_parts.py.
"""

from __future__ import annotations

from collections.abc import Callable

from gpop.common.deferred import Later, when_compiling
from gpop.common.numba_version import IS_TESTED

LEAN_OPTIONS = {"_nrt": False, "no_cfunc_wrapper": True} if IS_TESTED else {}
"""Options of ``njit`` that leave out reference counts and the entry for C."""

KERNEL = {"error_model": "numpy", **LEAN_OPTIONS}
"""How kernels are compiled. They allocate nothing, so they need no reference counts: each array that a
function touches would otherwise cost a pair of atomic updates, most of the time of a small iteration.
Division by zero gives what NumPy gives, since an exception would leave the other threads waiting. Nobody
calls them from C, so they need no entry for that."""

_parts = Later("gpop.common.inlined_parts")


def inline(function: Callable) -> Callable:
    """Decorator of a function that becomes part of every kernel that calls it."""
    when_compiling(lambda: _parts.tell_inline(function))
    return function
