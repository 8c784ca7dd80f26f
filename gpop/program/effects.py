"""Calls that a vertex function must not make: an effect outside the program, or a state of their own.

Compiled code runs on many threads, in an order that is nobody's, and some functions are called twice. What is
printed there would come in any order and could wait for a lock that a stopped thread holds; what is drawn
at random or read from a clock would make every run another one.

A function's bytecode says which globals, closure variables and attributes of modules it loads, and on which
line. The values behind those names are judged, not the names: ``p = print`` is found as well.
"""

from __future__ import annotations

import dis
import types
from typing import Any, NamedTuple

from gpop.program.references import LOADS_ATTRIBUTE, LOADS_NAME

OUTSIDE = {print: "print", input: "input", open: "open", breakpoint: "breakpoint"}
"""Built-in functions with an effect outside the program."""

OUTSIDE_MODULES = ("logging", "numba.core.withcontexts")
HIDDEN_MODULES = ("numpy.random", "random", "time", "datetime", "secrets", "uuid")
"""Modules whose functions have an effect, or answer differently each time."""


class Effect(NamedTuple):
    """What is wrong with a call, and where it is."""

    line: int
    message: str


def first_effect(function: types.FunctionType) -> Effect | None:
    """The first load of something with an effect or hidden state; None where there is none.

    Examples
    --------
    >>> import random
    >>> first_effect(lambda self, node: random.random() < 0.5).message.partition(",")[0]
    'random.random has a hidden state'
    >>> first_effect(lambda self, node: abs(node)) is None
    True
    """
    line = function.__code__.co_firstlineno
    for at, name, value in _loads(function.__code__, function, line):
        if isinstance(value, types.BuiltinFunctionType) and value in OUTSIDE:
            return Effect(at, f'{OUTSIDE[value]} is not possible on many threads: target="python" allows it')
        home = _home(value)
        if _within(home, OUTSIDE_MODULES):
            return Effect(at, f'{name} is not possible on many threads: target="python" allows it')
        if _within(home, HIDDEN_MODULES):
            return Effect(
                at,
                f"{name} has a hidden state, so that runs would differ: fill a field before the run instead",
            )
    return None


def _loads(code: types.CodeType, function: types.FunctionType, line: int):
    """Line, name and value of every global, closure variable and attribute of a module that is loaded."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    name, value = "", None
    for instruction in dis.get_instructions(code):
        line = getattr(instruction.positions, "lineno", None) or line
        argument = instruction.argval
        if instruction.opname in LOADS_NAME:
            name, value = argument, _value_of(argument, function, cells)
        elif instruction.opname in LOADS_ATTRIBUTE and isinstance(value, types.ModuleType):
            name, value = f"{name}.{argument}", getattr(value, argument, None)
        else:
            if value is not None:
                yield line, name, value
            value = None
        if isinstance(argument, types.CodeType):  # a lambda inside
            yield from _loads(argument, function, line)


def _value_of(name: str, function: types.FunctionType, cells: dict[str, types.CellType]) -> Any:
    if name in cells:
        return cells[name].cell_contents
    if name in function.__globals__:
        return function.__globals__[name]
    builtins = function.__globals__.get("__builtins__", {})
    return vars(builtins).get(name) if isinstance(builtins, types.ModuleType) else builtins.get(name)


def _home(value: Any) -> str:
    """The module that a function, a bound method, an object or a module belongs to."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else type(getattr(value, "__self__", value)).__module__


def _within(home: str, modules: tuple[str, ...]) -> bool:
    return any(home == module or home.startswith(f"{module}.") for module in modules)
