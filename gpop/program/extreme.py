"""Whether a gatherFunc keeps the smaller, or the larger, of what it has and what it hears.

``if value < self.field[node]: self.field[node] = value; return True`` and ``return False`` is a minimum,
which a machine has an instruction for: it does not matter who comes between. It is told by its bytecode,
which is that of one of four functions but for the names of the field and of the arguments.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable
from functools import cache
from typing import Any


def _less(self, value, node):
    if value < self.field[node]:
        self.field[node] = value
        return True
    return False


def _had_more(self, value, node):
    if self.field[node] > value:
        self.field[node] = value
        return True
    return False


def _more(self, value, node):
    if value > self.field[node]:
        self.field[node] = value
        return True
    return False


def _had_less(self, value, node):
    if self.field[node] < value:
        self.field[node] = value
        return True
    return False


KINDS: dict[Callable[..., bool], str] = {_less: "min", _had_more: "min", _more: "max", _had_less: "max"}


def extreme_of(function: types.FunctionType) -> str | None:
    """What ``gatherFunc`` makes of a message and its one field: "min", "max", or None for all else.

    Examples
    --------
    >>> def gatherFunc(self, x, v):
    ...     if x < self.distance[v]:
    ...         self.distance[v] = x
    ...         return True
    ...     return False
    >>> extreme_of(gatherFunc)
    'min'
    >>> extreme_of(lambda self, x, v: x < self.distance[v]) is None
    True
    """
    return _known().get(_form_of(function))


@cache
def _known() -> dict[tuple[Any, ...], str]:
    return {_form_of(function): kind for function, kind in KINDS.items()}


def _form_of(function: types.FunctionType) -> tuple[Any, ...]:
    """The instructions; arguments by their place, attributes by when they were first named."""
    code = function.__code__
    arguments, names = code.co_varnames, code.co_names
    form: list[Any] = [code.co_argcount]
    for instruction in dis.get_instructions(code):
        said = instruction.argval
        if instruction.opcode in dis.hasname:
            said = names.index(said)
        elif isinstance(said, tuple):  # two arguments at once
            said = tuple(map(arguments.index, said))
        elif instruction.opcode in dis.haslocal:
            said = arguments.index(said)
        form.append((instruction.opname, said))
    return tuple(form)
