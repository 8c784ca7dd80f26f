"""Compiling with a person in mind: the type of the messages, and errors that name the user's line."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from gpop.common.cached import cached
from gpop.common.errors import ProgramError, uncoloured
from gpop.common.inlined import KERNEL
from gpop.program.lowering import ANSWERS, MAY_BE_SILENT, Lowered
from gpop.program.program import Program
from gpop.program.published import publish_user
from gpop.program.state import make_state

TRUTH, NOTHING, OTHER = range(3)
"""What a function answers: True or False (or a whole number, 0 being False), at times None, or else."""

_message_dtypes: dict[tuple, np.dtype] = {}


@intrinsic
def answer_kind(typing_context, function, arguments):
    """What a call would answer, as a code. The call is not made, only typed."""
    kind = function.get_call_type(typing_context, tuple(arguments), {}).return_type
    code = NOTHING if isinstance(kind, (types.NoneType, types.Optional)) else OTHER
    if isinstance(kind, (types.Boolean, types.BooleanLiteral, types.Integer)):
        code = TRUTH

    def generate(context, builder, signature, values):
        return context.get_constant(types.int64, code)

    return types.int64(function, arguments), generate


def message_dtype(program: Program, lowered: Lowered) -> np.dtype:
    """Type of the messages: what ``scatterFunc`` returns, asked of the compiler (cached on disk).

    Raises
    ------
    ProgramError
        If that is no number, or one of `ANSWERS` says neither True nor False.
    """
    if program.graph.n == 0:
        return np.dtype(np.uint32)  # nothing will be sent
    weighted = "applyWeight" in lowered.functions
    weight = program.graph.weights.dtype.type(0) if weighted else np.uint8(0)
    key = (lowered.key, weight.dtype)
    if key not in _message_dtypes:
        cls = type(program)
        names = ("scatterFunc", "applyWeight", *ANSWERS)
        scatterFunc, applyWeight, initFunc, gatherFunc, filterFunc, needsFunc = (
            publish_user(getattr(cls, name), name, lowered.key) for name in names
        )

        def probe(state, weight):
            node = np.uint32(0)
            message = scatterFunc(state, node)
            return (
                np.array(message),
                answer_kind(initFunc, (state, node)),
                answer_kind(gatherFunc, (state, applyWeight(state, message, weight), node)),
                answer_kind(filterFunc, (state, node)),
                answer_kind(needsFunc, (state, node)),
            )

        probe.__qualname__ = f"message_{lowered.key}"
        state = make_state(program, lowered, 0)
        probe = cached(probe, error_model="numpy")
        message, *kinds = compiled(lowered, state, probe, state, weight)
        if message.ndim or message.dtype.kind not in "biuf":
            raise _no_number(lowered)
        for name, kind in zip(ANSWERS, kinds, strict=True):
            silent = kind == NOTHING and cls.all_active and name in MAY_BE_SILENT
            if kind != TRUTH and not silent:
                where = _where(lowered, name)
                raise ProgramError(f"{where} returns neither True nor False: expected one of them")
        _message_dtypes[key] = message.dtype
    return _message_dtypes[key]


def _where(lowered: Lowered, name: str) -> str:
    code = lowered.functions[name].__code__
    return f"{code.co_filename}:{code.co_firstlineno}: {lowered.name}.{name}"


def _no_number(lowered: Lowered) -> ProgramError:
    return ProgramError(f"{_where(lowered, 'scatterFunc')} returns more than a number: expected one number")


def compiled(lowered: Lowered, state: tuple, function: Any, *arguments: Any) -> Any:
    """Call a kernel; a compile error becomes one line that names the user's file and line."""
    from gpop.common.numba_private import errors

    try:
        return function(*arguments)
    except errors.NumbaError as error:
        fault = _program_error(lowered, state, error)
    raise fault  # here: a traceback would show all of Numba's lines before this one


def _program_error(lowered: Lowered, state: tuple, error: Exception) -> ProgramError:
    """One line that says what is wrong where in the user's source.

    Inside a kernel Numba's message is about the kernel; so the functions are compiled one by one.
    """
    from gpop.common.numba_private import errors

    message, where = np.uint32(0), lowered.name
    for name, original in lowered.functions.items():
        function = publish_user(original, name, lowered.key)
        node = (np.uint32(0),)
        values = {"gatherFunc": (message, *node), "applyWeight": (message, message)}.get(name, node)
        try:
            answer = njit(**KERNEL)(function)(state, *values) if name == "scatterFunc" else None
            if name == "scatterFunc":
                message = answer
                if not isinstance(message, (bool, int, float, np.generic)):
                    return _no_number(lowered)
            else:
                njit(**KERNEL)(function).compile(tuple(numba.typeof(value) for value in (state, *values)))
        except errors.NumbaError as fault:
            error, where = fault, _where(lowered, name)
            break
    lines = [line.strip() for line in uncoloured(error).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith(("Failed in", "During", "File"))), lines[0])
    place = next((line for line in lines if line.startswith("File")), "")
    return ProgramError(f"{where} does not compile: {reason} {place}".rstrip(" :"), detail=uncoloured(error))


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
