"""A core of its own for a thread that is woken, where the system would leave it on its caller's.

Linux wakes a thread on the core where it ran last. Where that is busy it looks for an idle one, but no longer
once all cores together were busy enough in the last moments: on two cores, after some hundred milliseconds of
calls. So a thread that last ran where its caller runs now is left to wait for it: a call of a millisecond is
over before the two are told apart, and every next one finds both on the same core again.

Who sleeps notes its core first, and who calls looks there: those on its own core may have any other of the
cores that the caller may have, if there is one, and not those of the others as long as there are more.

Encoding of ``places`` (int64): `HERE` is the caller's core, `SET` on the cores a thread may have, a bit for
each; then a line for each thread, with its `CORE` and its `THREAD` by the system's number, 0 before it has
begun. Calls of the system are by number: what is compiled is kept on disk. Where it is not Linux, or a
processor whose numbers are not here, threads stay where they are woken.
"""

from __future__ import annotations

import platform
import sys

import numpy as np

from gpop.common.deferred import Later, intrinsic
from gpop.common.inlined import inline

ir, types, cgutils = Later("llvmlite.ir"), Later("numba.types"), Later("numba.core.cgutils")

_NUMBERS = {"x86_64": (309, 186, 203, 204), "aarch64": (168, 178, 122, 123)}
KNOWN = sys.platform == "linux" and platform.machine() in _NUMBERS
_GETCPU, _GETTID, _SET_CORES, _GET_CORES = _NUMBERS[platform.machine()] if KNOWN else (0, 0, 0, 0)

HERE, SET, LINES = 0, 8, 24
SET_BYTES = 8 * (LINES - SET)
"""Of 1024 cores; where there are more, threads stay where the system wakes them."""

LINE, CORE, THREAD = 8, 0, 1
NOWHERE = 0xFFFFFFFF
"""No core; the system writes the lower half of a slot."""


def places_for(threads: int) -> np.ndarray:
    """Room for so many threads."""
    return np.zeros(LINES + LINE * threads, np.int64)


@intrinsic
def _system_call(typingctx, number, first, second, third):
    """What the system returns; its errors are negative, and all are errors where numbers are not known."""
    signature = types.int64(types.int64, types.int64, types.int64, types.int64)

    def codegen(context, builder, sig, args):
        word = ir.IntType(64)
        if not KNOWN:
            return word(-1)
        kind = ir.FunctionType(word, [word], var_arg=True)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "syscall"), args)

    return signature, codegen


@inline
def begin_at(places, line):
    """The calling thread is that of this line."""
    places[LINES + LINE * line + THREAD] = _system_call(_GETTID, 0, 0, 0)


@inline
def note_core(places, address, line):
    """The calling thread, which is about to sleep, is on this core."""
    _system_call(_GETCPU, address + 8 * (LINES + LINE * line + CORE), 0, 0)


@inline
def make_way(places, address, lines):
    """Have no thread of the first lines wake where the caller is, if there is another core."""
    _system_call(_GETCPU, address + 8 * HERE, 0, 0)
    here = places[HERE]
    for line in range(lines):
        at = LINES + LINE * line
        if places[at + CORE] == here and places[at + THREAD] != 0 and _others(places, address, lines) > 0:
            _system_call(_SET_CORES, places[at + THREAD], SET_BYTES, address + 8 * SET)
            places[at + CORE] = NOWHERE


@inline
def _others(places, address, lines):
    """Have the set of the caller's cores without those that it and others are on; if that is empty, without
    its own. How many words of it are not 0."""
    for taken in (lines, 0):
        if _system_call(_GET_CORES, 0, SET_BYTES, address + 8 * SET) <= 0:
            return 0
        _leave_out(places, places[HERE])
        for line in range(taken):
            _leave_out(places, places[LINES + LINE * line + CORE])
        left = 0
        for word in range(SET, LINES):
            left += places[word] != 0
        if left > 0:
            return left
    return 0


@inline
def _leave_out(places, core):
    if core < 8 * SET_BYTES:
        places[SET + (core >> 6)] &= ~(np.int64(1) << (core & 63))
