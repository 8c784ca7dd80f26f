"""The content key of a program: a hash of all that its compiled form depends on.

It covers the bytecode of the functions, of the plain helper functions they call, the values of the globals
they read and ``cuda_source``. It names compiled kernels, so an edited program never meets the kernels of its
former self, and an unchanged one finds them again in a new process.

To hash all that takes a quarter of a millisecond, more than a small run. So what went in is also collected as
objects (`parts_of`): while each of them is the same object as before, and none can change in place, so is the
key.
"""

from __future__ import annotations

import hashlib
import types
from functools import cache
from operator import is_
from sys import intern
from typing import Any

import numpy as np

from gpop.program.program import Program

UNCHANGING = (bool, int, float, complex, str, bytes, type(None), np.generic, types.ModuleType, type)
"""Types of values that stay what they are, or of which the key holds nothing but the name."""


def parts_of(cls: type[Program], functions: dict[str, Any]) -> list[Any] | None:
    """All that the key is made of, as objects; None where something among it can change in place.

    Examples
    --------
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node
    >>> before = parts_of(Sum, {"scatterFunc": Sum.scatterFunc})
    >>> same_parts(before, parts_of(Sum, {"scatterFunc": Sum.scatterFunc}))
    True
    >>> Sum.combine = "add"
    >>> same_parts(before, parts_of(Sum, {"scatterFunc": Sum.scatterFunc}))
    False
    """
    parts = [cls.__name__, cls.all_active, cls.inactive_message]
    parts += [cls.combine, cls.track_touched, cls.cuda_source]
    for members in (cls.vertex_fields(), cls.scalar_parameters()):
        parts += members.keys()
        parts += members.values()
    pending, seen = [*functions.items()], set()
    while pending:
        name, function = pending.pop()
        function = getattr(function, "py_func", function)
        parts += (name, function)
        if id(function) in seen:
            continue
        seen.add(id(function))
        if function.__defaults__:
            return None
        parts.append(function.__code__)
        for name, value in references_of(function).items():
            if isinstance(getattr(value, "py_func", value), types.FunctionType):
                pending.append((name, value))
            elif isinstance(value, UNCHANGING):
                parts += (name, value)
            else:
                return None
    return parts


def same_parts(before: list[Any] | None, now: list[Any] | None) -> bool:
    """Whether these are the same objects."""
    if before is None or now is None or len(before) != len(now):
        return False
    return all(map(is_, before, now))


def content_key(cls: type[Program], functions: dict[str, Any]) -> str:
    """The key of a class with these functions, as hexadecimal digits."""
    digest = hashlib.sha256()
    for name, function in functions.items():
        digest.update(name.encode())
        if isinstance(function, types.FunctionType):
            _hash_function(digest, function, set())
    declared = {**cls.vertex_fields(), **cls.scalar_parameters()}
    shape = [(name, member.dtype.str) for name, member in declared.items()]
    digest.update(repr((cls.__name__, shape, cls.all_active, repr(cls.inactive_message))).encode())
    digest.update(repr((cls.combine, cls.track_touched, cls.cuda_source)).encode())
    return digest.hexdigest()[:24]


def _hash_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    """Bytecode, constants, closure and globals; positions in the file do not count."""
    if id(function) in seen:
        return
    seen.add(id(function))
    _hash_code(digest, function.__code__)
    digest.update(repr(function.__defaults__).encode())
    for name, value in sorted(references_of(function).items()):
        digest.update(name.encode())
        _hash_value(digest, value, seen)


def _hash_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _hash_code(digest, constant)
        else:
            digest.update(repr((type(constant).__name__, constant)).encode())


def _hash_value(digest: Any, value: Any, seen: set[int]) -> None:
    helper = getattr(value, "py_func", value)
    if isinstance(helper, types.FunctionType):
        _hash_function(digest, helper, seen)
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.dtype.str, value.shape)).encode() + value.tobytes())
    elif isinstance(value, (types.ModuleType, type)):
        digest.update(value.__name__.encode())
    else:
        digest.update(repr((type(value).__name__, value)).encode())


@cache
def names_in(code: types.CodeType) -> frozenset[str]:
    """Names of globals and attributes in a code object and in those nested in it (lambdas)."""
    nested = [names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return frozenset(code.co_names).union(*nested)


def references_of(function: types.FunctionType) -> dict[str, Any]:
    """Globals, constants of modules and closure variables that the function's code names."""
    names = names_in(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for module in [value for value in found.values() if isinstance(value, types.ModuleType)]:
        constants = {name: getattr(module, name) for name in names if hasattr(module, name)}
        found |= {
            intern(f"{module.__name__}.{name}"): value  # the same object each time
            for name, value in constants.items()
            if isinstance(value, (bool, int, float, np.generic)) or hasattr(value, "py_func")
        }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    return found


def helpers_of(function: types.FunctionType) -> list[types.FunctionType]:
    """Functions that ``function`` calls by name, directly or through another helper, compiled or not."""
    found: dict[int, types.FunctionType] = {}
    pending = [function]
    while pending:
        for value in references_of(pending.pop()).values():
            value = getattr(value, "py_func", value)
            if isinstance(value, types.FunctionType) and id(value) not in found:
                found[id(value)] = value
                pending.append(value)
    return list(found.values())
