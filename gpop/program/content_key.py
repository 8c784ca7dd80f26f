"""The content key of a program: a hash of all that its compiled form depends on.

It covers the bytecode of the functions, of the helper functions they call, the values of the globals and of
the constants of modules that they read, and ``cuda_source``. It names compiled kernels, so an edited program
never meets the kernels of its former self, and an unchanged one finds them again in a new process.

To hash all that takes a quarter of a millisecond, more than a small run. So it is also noted where what went
in was found (`Watched`): while the same objects are there, and none can change in place, the key is the same.
"""

from __future__ import annotations

import enum
import hashlib
import types
from itertools import repeat
from operator import attrgetter, is_
from typing import Any

import numpy as np

from gpop.program.functions import FUNCTIONS
from gpop.program.program import DECLARATIONS, Program
from gpop.program.references import (
    globals_in,
    modules_of,
    names_in,
    plain_of,
    references_of,
    signatures_of,
)

UNCHANGING = (bool, int, float, complex, str, bytes, type(None), np.generic, types.ModuleType, type)
"""Types of values that stay what they are, or of which the key holds nothing but the name."""


class Watched:
    """Where all that the key is made of was found, and what was found there.

    Parameters
    ----------
    cls : type
        A program; what is kept does not keep it alive.
    functions : dict
        Those that its user wrote, by name.

    Examples
    --------
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node
    >>> watched = Watched(Sum, {"scatterFunc": Sum.scatterFunc})
    >>> watched.unchanged(Sum)
    True
    >>> Sum.combine = "add"
    >>> watched.unchanged(Sum)
    False
    """

    def __init__(self, cls: type[Program], functions: dict[str, Any]) -> None:
        self.name, self.members = cls.__name__, cls._members
        self.said = _said(cls)
        codes: list[tuple[types.FunctionType, types.CodeType]] = []
        names: list[tuple[dict[str, Any], str, Any]] = []
        cells: list[tuple[types.CellType, Any]] = []
        self.sure = True
        pending, seen = list(functions.values()), set()
        while pending:
            function = plain_of(pending.pop())
            if function not in seen:
                seen.add(function)
                pending += self._watch(function, codes, names, cells)
        # By columns, for loops in C: every run asks.
        self.functions, self.codes = _columns(codes, 2)
        once = {(id(scope), name): (scope, name, value) for scope, name, value in names}
        self.scopes, self.names, self.values = _columns([*once.values()], 3)
        self.cells, self.contents = _columns(cells, 2)

    def _watch(self, function: types.FunctionType, codes: list, names: list, cells: list) -> list[Any]:
        """Watch what a function refers to; the functions among it."""
        self.sure &= not function.__defaults__
        codes.append((function, function.__code__))
        named, scope = names_in(function.__code__), function.__globals__
        found = [(scope, name, scope.get(name, _NOTHING)) for name in globals_in(function.__code__)]
        for module in modules_of(function):
            constants = vars(module)
            self.sure &= not any(name not in constants and hasattr(module, name) for name in named)
            found += [(constants, name, constants.get(name, _NOTHING)) for name in named]
        names += found
        cells += [(cell, cell.cell_contents) for cell in function.__closure__ or ()]
        referred = references_of(function).values()
        helpers = []
        for each in referred:
            if isinstance(plain_of(each), types.FunctionType):
                helpers.append(each)
            else:
                self.sure &= isinstance(each, UNCHANGING)
        return helpers

    def unchanged(self, cls: type[Program]) -> bool:
        """Whether all of it is the same, and of a kind that cannot change in place."""
        if not self.sure or cls.__name__ is not self.name or cls._members is not self.members:
            return False
        return (
            all(map(is_, _said(cls), self.said))
            and all(map(is_, map(dict.get, self.scopes, self.names, repeat(_NOTHING)), self.values))
            and all(map(is_, map(_code, self.functions), self.codes))
            and not any(map(_defaults, self.functions))
            and all(map(is_, map(_contents, self.cells), self.contents))
        )


_NOTHING = object()
_code, _defaults, _contents = map(attrgetter, ("__code__", "__defaults__", "cell_contents"))
_said = attrgetter(*FUNCTIONS, *DECLARATIONS)
"""Of a class, where it or a base has said it: all that the key is made of beside fields and parameters."""


def _columns(rows: list[tuple], count: int) -> list[tuple]:
    return [*zip(*rows, strict=True)] or [()] * count


def content_key(cls: type[Program], functions: dict[str, Any]) -> str:
    """The key of a class with these functions, as hexadecimal digits."""
    digest = hashlib.sha256()
    for name, function in functions.items():
        digest.update(name.encode())
        if isinstance(function, types.FunctionType):
            _hash_function(digest, function, {})
    declared = {**cls.vertex_fields(), **cls.scalar_parameters()}
    shape = [(name, member.dtype.str) for name, member in declared.items()]
    digest.update(repr((cls.__name__, shape, cls.all_active, repr(cls.inactive_message))).encode())
    digest.update(repr((cls.combine, cls.track_touched, cls.settles, cls.cuda_source)).encode())
    return digest.hexdigest()[:24]


def _hash_function(digest: Any, function: types.FunctionType, seen: dict[int, int]) -> None:
    """Bytecode, constants, closure and globals; positions in the file do not count.

    One that was ``seen`` before is said by its number: another name may be for another one by now.
    """
    if id(function) in seen:
        digest.update(f"function {seen[id(function)]}".encode())
        return
    seen[id(function)] = len(seen)
    _hash_code(digest, function.__code__)
    _hash_value(digest, function.__defaults__, seen)
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


def _hash_value(digest: Any, value: Any, seen: dict[int, int]) -> None:
    helper = plain_of(value)
    if isinstance(helper, types.FunctionType):
        digest.update(repr(signatures_of(value)).encode())
        _hash_function(digest, helper, seen)
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.dtype, value.shape)).encode() + value.tobytes())
    elif isinstance(value, (tuple, list)):  # their own text would leave out most of a long array
        digest.update(repr((type(value).__name__, getattr(value, "_fields", ()), len(value))).encode())
        for each in value:
            _hash_value(digest, each, seen)
    elif isinstance(value, enum.EnumMeta):
        digest.update(repr([*value]).encode())
    elif isinstance(value, (types.ModuleType, type)):
        digest.update(repr((value.__name__, getattr(value, "_fields", ()))).encode())
    else:
        digest.update(repr((type(value).__name__, value)).encode())
