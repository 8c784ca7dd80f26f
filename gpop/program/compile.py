"""Compiling with a person in mind: the type of the messages, and errors that name the user's line."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import njit

from gpop.common.errors import ProgramError
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.published import KERNEL, publish_user
from gpop.program.state import make_state

_message_dtypes: dict[str, np.dtype] = {}


def message_dtype(program: Program, lowered: Lowered) -> np.dtype:
    """Type of the messages: what ``scatterFunc`` returns, asked of the compiler (cached on disk)."""
    if program.graph.n == 0:
        return np.dtype(np.uint32)  # nothing will be sent
    if lowered.key not in _message_dtypes:
        scatterFunc = publish_user(lowered.functions["scatterFunc"], "scatterFunc", lowered.key)

        def probe(state):
            return np.array(scatterFunc(state, np.uint32(0)))

        probe.__qualname__ = f"message_{lowered.key}"
        state = make_state(program, lowered, 0)
        message = compiled(lowered, state, njit(cache=True)(probe), state)
        if message.ndim or message.dtype.kind not in "biuf":
            raise ProgramError(f"{lowered.name}.scatterFunc returns more than a number: expected one scalar")
        _message_dtypes[lowered.key] = message.dtype
    return _message_dtypes[lowered.key]


def compiled(lowered: Lowered, state: tuple, function: Any, *arguments: Any) -> Any:
    """Call a kernel; a compile error becomes one line that names the user's file and line."""
    from numba.core.errors import NumbaError

    try:
        return function(*arguments)
    except NumbaError as error:
        raise _program_error(lowered, state, error) from error


def _program_error(lowered: Lowered, state: tuple, error: Exception) -> ProgramError:
    """One line that says what is wrong where in the user's source.

    Inside a kernel Numba's message is about the kernel; so the functions are compiled one by one.
    """
    from numba.core.errors import NumbaError

    message, where = np.uint32(0), lowered.name
    for name, original in lowered.functions.items():
        function = publish_user(original, name, lowered.key)
        node = (np.uint32(0),)
        values = {"gatherFunc": (message, *node), "applyWeight": (message, message)}.get(name, node)
        try:
            answer = njit(**KERNEL)(function)(state, *values) if name == "scatterFunc" else None
            if name == "scatterFunc":
                message = answer
            else:
                njit(**KERNEL)(function).compile(tuple(numba.typeof(value) for value in (state, *values)))
        except NumbaError as fault:
            code = original.__code__
            error, where = fault, f"{code.co_filename}:{code.co_firstlineno}: {lowered.name}.{name}"
            break
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(("Failed in", "During", "File"))), lines[0])
    place = next((line for line in lines if line.startswith("File")), "")
    return ProgramError(f"{where} does not compile: {reason} {place}".rstrip(" :"))


def inactive_of(lowered: Lowered, declared: Any, message: np.dtype) -> Any:
    """``inactive_message`` in the type of the messages; it must not change its value on the way."""
    try:
        value = message.type(declared)
    except (OverflowError, TypeError, ValueError):
        value = None
    if value is None or (value != declared and message.kind != "f"):
        name = f"{lowered.name}.inactive_message"
        raise ProgramError(f"{name} = {declared!r}: messages are {message}, expected a value of that type")
    return value
