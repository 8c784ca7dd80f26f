"""Compiling with a person in mind: an error names the user's file and line, not the kernel's."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.deferred import compiler
from gpop.common.errors import ProgramError
from gpop.common.inlined import KERNEL
from gpop.program.lowering import Lowered
from gpop.program.published import publish_user
from gpop.program.types import Types, not_compiled


def compiled(lowered: Lowered, types: Types, state: tuple, function: Any, *arguments: Any) -> Any:
    """Call a kernel; a compile error becomes one line that names the user's file and line."""
    try:
        return function(*arguments)
    except Exception as error:
        if not isinstance(error, compiler().errors.NumbaError):
            raise
        fault = _fault(lowered, types, state, error)
    raise fault  # here: a traceback would show all of Numba's lines before this one


def _fault(lowered: Lowered, types: Types, state: tuple, error: Exception) -> ProgramError:
    """Inside a kernel Numba's message is about the kernel; so the functions are compiled one by one."""
    node, message, gathered = np.uint32(0), types.message.type(0), types.gathered.type(0)
    weight = message if types.weight is None else types.weight.type(0)
    given = {"gatherFunc": (gathered, node), "applyWeight": (message, weight)}
    for name, original in lowered.functions.items():
        function = publish_user(original, name, lowered.key)
        values = (state, *given.get(name, (node,)))
        try:
            compiler().njit(**KERNEL)(function).compile(tuple(map(compiler().typeof, values)))
        except compiler().errors.NumbaError as fault:
            return not_compiled(lowered, name, fault)
    return not_compiled(lowered, "", error)
