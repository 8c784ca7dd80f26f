"""What a user's function refers to: globals, attributes of modules, closure variables, and helpers by these.

A function's bytecode says which names it loads; the values behind them are looked up when somebody asks.
"""

from __future__ import annotations

import dis
import enum
import types
from functools import cache
from sys import intern
from typing import Any

import numpy as np

LOADS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
LOADS_NAME = (*LOADS_GLOBAL, "LOAD_DEREF")
LOADS_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")

CONSTANTS = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray, enum.Enum, enum.EnumMeta)
"""What compiled code keeps of a module, beside functions."""

LIBRARIES = ("numpy", "numba", "math", "cmath", "operator", "builtins")
"""Whose functions nobody edits between runs; Numba has its own versions of them."""


@cache
def names_in(code: types.CodeType) -> frozenset[str]:
    """Names of globals and attributes in a code object and in those nested in it (lambdas)."""
    nested = [names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return frozenset(code.co_names).union(*nested)


@cache
def globals_in(code: types.CodeType) -> frozenset[str]:
    """Of these the names of globals: a field may be called as something else in the same file.

    Examples
    --------
    >>> sorted(globals_in((lambda self, node: self.rank[node] * len(damping)).__code__))
    ['damping', 'len']
    """
    nested = [globals_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    loads = (each.argval for each in dis.get_instructions(code) if each.opname in LOADS_GLOBAL)
    return frozenset(loads).union(*nested)


@cache
def chained_in(code: types.CodeType) -> frozenset[str]:
    """Names of attributes of what is no local variable, as of a module: not of ``self``.

    Examples
    --------
    >>> sorted(chained_in((lambda self, node: self.rank[node] * np.random.random()).__code__))
    ['random']
    """
    found, chained = set(), False
    for each in dis.get_instructions(code):
        if isinstance(each.argval, types.CodeType):
            found |= chained_in(each.argval)
        if chained and each.opname in LOADS_ATTRIBUTE:
            found.add(each.argval)
        else:
            chained = each.opname in LOADS_NAME
    return frozenset(found)


def signatures_of(value: Any) -> list[Any]:
    """Those for which alone somebody has compiled a function: ``@njit("float32(float32)")``.

    Examples
    --------
    >>> from numba import njit
    >>> signatures_of(njit("int32(int32)")(abs_of := lambda x: abs(x))), signatures_of(njit(abs_of))
    ([(int32,) -> int32], [])
    """
    return [] if getattr(value, "_can_compile", True) else value.nopython_signatures


def plain_of(value: Any) -> Any:
    """The function that a compiled one was made of (`numba.njit`, `vectorize`, `cfunc`); else the value."""
    for made in (value, getattr(value, "_dispatcher", None)):
        function = getattr(made, "py_func", None) or getattr(made, "_pyfunc", None)
        if isinstance(function, types.FunctionType):
            return function
    return value


def modules_of(function: types.FunctionType) -> list[types.ModuleType]:
    """Modules that the function's code names, as a global, a closure variable or one within another."""
    names, scope = names_in(function.__code__), function.__globals__
    pending = [scope.get(name) for name in globals_in(function.__code__)]
    pending += [cell.cell_contents for cell in function.__closure__ or ()]
    found: dict[int, types.ModuleType] = {}
    while pending:
        module = pending.pop()
        if isinstance(module, types.ModuleType) and id(module) not in found:
            found[id(module)] = module
            pending += [getattr(module, name, None) for name in names]
    return list(found.values())


def is_rebound(value: Any, name: str, code: types.CodeType) -> bool:
    """Whether an attribute of a module is a helper of this code, or a module that may have some: a function
    that is compiled, or is when somebody calls it (`numba.extending.register_jitable`)."""
    if plain_of(value) is not value or isinstance(value, types.ModuleType):
        return True
    if not isinstance(value, types.FunctionType) or name not in chained_in(code):
        return False
    return str(value.__module__).partition(".")[0] not in LIBRARIES


def references_of(function: types.FunctionType) -> dict[str, Any]:
    """Globals, constants of modules and closure variables that the function's code names."""
    code, scope = function.__code__, function.__globals__
    names = names_in(code)
    found = {name: scope[name] for name in globals_in(code) if name in scope}
    for module in modules_of(function):
        constants = {name: getattr(module, name) for name in names if hasattr(module, name)}
        found |= {
            intern(f"{module.__name__}.{name}"): value  # the same object each time
            for name, value in constants.items()
            if isinstance(value, CONSTANTS)
            or (is_rebound(value, name, code) and not isinstance(value, types.ModuleType))
        }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    return found


def helpers_of(function: types.FunctionType) -> list[types.FunctionType]:
    """Functions that ``function`` calls by name, directly or through another helper, compiled or not."""
    found: dict[int, types.FunctionType] = {}
    pending = [function]
    while pending:
        for value in map(plain_of, references_of(pending.pop()).values()):
            if isinstance(value, types.FunctionType) and id(value) not in found:
                found[id(value)] = value
                pending.append(value)
    return list(found.values())
