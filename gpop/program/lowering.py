"""Program class -> checked functions and a content key, the form that every target compiles from.

The check (ownership.py) reads Numba's intermediate form of each function, so it works wherever the class was
typed (script, module, notebook, REPL) and knows the user's file and line. The key (content_key.py) names
what is compiled, and what the check has found is kept under it: Numba is not needed to find it again.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, NamedTuple

from gpop.common.cached import source_key
from gpop.common.errors import ProgramError
from gpop.common.user_folder import recall, remember_also
from gpop.program.content_key import Watched, content_key
from gpop.program.functions import ARGUMENTS, FUNCTIONS
from gpop.program.ownership import OwnershipCheck
from gpop.program.program import BUILT_IN, Program
from gpop.program.references import globals_in

SAID = {"steady", "activates", "filters_early", "gathered", "written", "sent", "filters"}
"""Fields of `Lowered` that the check finds."""


class Lowered(NamedTuple):
    """A checked program.

    ``functions`` holds those the user wrote; ``names`` are the attributes of ``self`` that they use,
    in the order of the state tuple; ``key`` is the content key (hex). ``steady``: ``scatterFunc`` reads no
    field that another function writes, so within an iteration it may be called at any time. ``activates``:
    ``gatherFunc`` returns True whatever it hears. ``filters_early``: ``filterFunc`` may be called as soon as
    a vertex is activated: it always returns True, and of what it or ``gatherFunc`` writes the other one uses
    nothing. ``gathered``: the fields that ``gatherFunc`` writes; ``written``: those that any function does.
    ``sent``: the attributes that ``scatterFunc`` uses. ``filters``: ``filterFunc`` may say False.
    """

    name: str
    functions: dict[str, types.FunctionType]
    fields: tuple[str, ...]
    parameters: tuple[str, ...]
    built_in: tuple[str, ...]
    key: str
    steady: bool
    activates: bool
    filters_early: bool
    gathered: tuple[str, ...]
    written: tuple[str, ...]
    sent: tuple[str, ...]
    filters: bool


class Known:
    """What a class was made of, and its checked form. A copy of the class in another process, as cloudpickle
    makes of those of a notebook, begins without: else all that its functions refer to would travel along."""

    __slots__ = ("lowered", "watched")

    def __init__(self, watched: Watched | None = None, lowered: Lowered | None = None) -> None:
        self.watched, self.lowered = watched, lowered

    def __reduce__(self) -> tuple[type[Known], tuple[()]]:
        return Known, ()


_NOTHING = Known()


def lower(cls: type[Program]) -> Lowered:
    """Check a Program class and collect what a target needs to compile it.

    Raises
    ------
    ProgramError
        Naming the user's file and line, for a missing function or a breach of the ownership rule.

    Examples
    --------
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node
    ...     def gatherFunc(self, value, node):
    ...         return True
    >>> sorted(lower(Sum).functions)
    ['gatherFunc', 'scatterFunc']
    """
    kept: Known = vars(cls).get("_lowered", _NOTHING)
    watched, known = kept.watched, kept.lowered
    if watched is not None and known is not None and watched.unchanged(cls):
        return known
    functions = user_functions(cls)
    watched, key = Watched(cls, functions), content_key(cls, functions)
    if known is not None and known.key == key:
        cls._lowered = Known(watched, known)
        return known
    found = _recalled(key) or _found(cls, functions, key)
    used = {*found["used"], *(cls.settles or ())}
    lowered = Lowered(
        cls.__name__,
        functions,
        tuple(name for name in cls.vertex_fields() if name in used),
        tuple(name for name in cls.scalar_parameters() if name in used),
        tuple(name for name in BUILT_IN if name in used),
        key,
        **{name: tuple(value) if isinstance(value, list) else value for name, value in found["said"].items()},
    )
    cls._lowered = Known(watched, lowered)
    return lowered


def watched_of(cls: type[Program]) -> Watched:
    """What a lowered class was made of; as long as that is unchanged, `lower` gives the same."""
    return vars(cls)["_lowered"].watched


def _recalled(key: str) -> dict[str, Any] | None:
    """What `_found` has found for a program of this key, in whatever process."""
    found = recall("checked").get(f"{key} {_checks_key()}")
    return found if isinstance(found, dict) and {*found.get("said", ())} == SAID else None


def _found(cls: type[Program], functions: dict[str, types.FunctionType], key: str) -> dict[str, Any]:
    """Check the functions; the attributes of ``self`` that they use, and what they say of the program."""
    used: set[str] = set()
    written: set[str] = set()
    checks: dict[str, OwnershipCheck] = {}
    for name, function in functions.items():
        checks[name] = check = OwnershipCheck(cls, name, function)
        check.run()
        used |= check.used
        written |= check.written
    gather, filter = checks["gatherFunc"], checks.get("filterFunc")
    said = {
        "steady": checks["scatterFunc"].used.isdisjoint(written),
        "activates": gather.only_true,
        "filters_early": _filters_early(checks),
        "gathered": sorted(gather.written),
        "written": sorted(written),
        "sent": sorted(checks["scatterFunc"].used),
        "filters": filter is not None and not filter.only_true,
    }
    found = {"used": sorted(used), "said": said}
    remember_also("checked", f"{key} {_checks_key()}", found)
    return found


@functools.cache
def _checks_key() -> str:
    return source_key(__file__)


def _filters_early(checks: dict[str, OwnershipCheck]) -> bool:
    gather, filter = checks["gatherFunc"], checks.get("filterFunc")
    if filter is None:
        return True
    return (
        filter.only_true and filter.used.isdisjoint(gather.written) and gather.used.isdisjoint(filter.written)
    )


def user_functions(cls: type[Program]) -> dict[str, types.FunctionType]:
    """The functions that the user wrote, by name.

    Raises
    ------
    ProgramError
        If scatterFunc or gatherFunc is missing, one is no plain method, takes other arguments, or calls
        that of its base: ``self`` is no object in compiled code.
    """
    functions = {
        name: getattr(cls, name) for name in FUNCTIONS if getattr(cls, name) is not getattr(Program, name)
    }
    for name in ("scatterFunc", "gatherFunc"):
        if name not in functions:
            raise ProgramError(
                f"{cls.__name__} has no {name}: every program defines scatterFunc and gatherFunc"
            )
    for name, function in functions.items():
        where, expected = f"{place_of(cls, function)}: {cls.__name__}.{name}", ", ".join(ARGUMENTS[name])
        if not isinstance(function, types.FunctionType):
            jitted = isinstance(getattr(function, "py_func", None), types.FunctionType)
            found = "a compiled function (gpop compiles it itself)" if jitted else type(function).__name__
            raise ProgramError(f"{where}: found {found}, expected a plain method: def {name}({expected})")
        code = function.__code__
        arguments = code.co_varnames[: code.co_argcount]
        count = len(arguments) != len(ARGUMENTS[name]) or code.co_kwonlyargcount or code.co_flags & 0x0C
        # Named as they are, but in another order: each would be taken for the other.
        turned = sorted(arguments) == sorted(ARGUMENTS[name]) and arguments != ARGUMENTS[name]
        if count or turned:
            raise ProgramError(f"{where}({', '.join(arguments)}): expected ({expected})")
        if "super" in globals_in(code):
            raise ProgramError(
                f"{where} calls super(): expected what the base class's function does, or a function of "
                "numbers that both call"
            )
    return functions


def place_of(cls: type[Program], function: Any) -> str:
    """``file:line`` of a function, of what it wraps, or else the file of its class."""
    while not isinstance(function, types.FunctionType):
        inner = function.func if isinstance(function, functools.partial) else None
        for name in ("py_func", "__func__", "__wrapped__"):
            inner = inner or getattr(function, name, None)
        if inner is None:
            return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
        function = inner
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
