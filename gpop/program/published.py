"""Where specialised functions live so that Numba's disk cache finds them again.

Numba keys a cached kernel by its signature, its bytecode and its pickled closure cells. A closure
over a plain function would be pickled by value, and over a jitted one with a per-process id that
never matches. Functions published here are attributes of this module, so they are pickled as a
name, and the name ends in the content key of everything that went into them (user functions,
library sources, traits): same content, same name, cache hit; any edit, another name.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from gpop.common.errors import ProgramError
from gpop.common.inlined import inline
from gpop.program.references import LIBRARIES, globals_in, is_rebound, names_in, signatures_of


def publish(function: types.FunctionType, name: str) -> types.FunctionType:
    """Make a library function callable from kernels under a name that stands for its content."""
    module = sys.modules[__name__]
    if hasattr(module, name):
        return getattr(module, name)
    function.__module__, function.__qualname__, function.__name__ = __name__, name, name
    inline(function)
    setattr(module, name, function)
    return function


def publish_user(function: types.FunctionType, name: str, key: str) -> types.FunctionType:
    """The same for a user's function and the helpers it calls.

    Copies are published, each with globals of its own: Numba reads globals when it compiles, and a
    function object is compiled once, so a changed global would otherwise not be noticed. A helper's name
    begins with its own, which others may have, too (lambdas, closures), and ends in that of who calls it.
    """
    module, whole = sys.modules[__name__], f"{name}_{key}"
    if not hasattr(module, whole):
        _publish_copy(function, whole, whole, {})
    return getattr(module, whole)


def _publish_copy(function: types.FunctionType, name: str, caller: str, done: dict) -> types.FunctionType:
    if id(function) in done:
        return done[id(function)]

    def rebound(value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return _module_with(value, function, rebound, done)
        helper = getattr(value, "py_func", value)
        if not isinstance(helper, types.FunctionType):
            return value
        its_name = f"{helper.__name__}_{len(done)}_{caller}"
        copy = _publish_copy(helper, its_name, caller, done)
        asked = signatures_of(value)
        return publish(as_asked(copy, asked, f"{its_name}_typed"), f"{its_name}_typed") if asked else copy

    names, cells = dict(function.__globals__), tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, name, function.__defaults__, cells)
    done[id(function)] = copy
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = rebound(original.cell_contents)
    for used in sorted(globals_in(function.__code__) & names.keys()):
        names[used] = rebound(names[used])
    return publish(copy, name)


def _module_with(
    module: types.ModuleType, function: types.FunctionType, rebound: Callable[[Any], Any], done: dict
) -> types.ModuleType:
    """The module as a function is to see it: with copies of the helpers that it calls through it."""
    asked, code = (id(module), id(function)), function.__code__
    if asked in done:
        return done[asked]
    found = {name: getattr(module, name, None) for name in sorted(names_in(code))}
    used = {name: value for name, value in found.items() if is_rebound(value, name, code)}
    if not used or module.__name__.partition(".")[0] in LIBRARIES:
        return module
    copy = done[asked] = types.ModuleType(module.__name__)  # before its parts, which may have it, too
    vars(copy).update(vars(module))
    vars(copy).update({name: rebound(value) for name, value in used.items()})
    return copy


def as_asked(function: types.FunctionType, asked: list[Any], name: str) -> types.FunctionType:
    """A function whose arguments and answer are of the types that somebody has asked for.

    Raises
    ------
    ProgramError
        If those are several, or no numbers.
    """
    from gpop.common.numba_private import types as kinds

    kinds_asked = (*asked[0].args, asked[0].return_type)
    numbers = all(isinstance(each, (kinds.Number, kinds.Boolean)) for each in kinds_asked)
    if len(asked) > 1 or not numbers:
        raise ProgramError(
            f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}: compiled for "
            f"{', '.join(map(str, asked))}: expected one signature of numbers, or none"
        )
    arguments = [f"a{i}" for i in range(len(asked[0].args))]
    cast = ", ".join(f"{type}({a})" for a, type in zip(arguments, asked[0].args, strict=True))
    scope = {str(each): each for each in kinds_asked} | {"function": function}
    text = f"def {name}({', '.join(arguments)}):\n    return {asked[0].return_type}(function({cast}))\n"
    exec(compile(text, function.__code__.co_filename, "exec"), scope)
    return scope[name]


def publish_class(make: Callable[[], type], name: str) -> type:
    """The same for a class (the state tuple of a program), made when it is not there yet."""
    module = sys.modules[__name__]
    if hasattr(module, name):
        return getattr(module, name)
    cls = make()
    cls.__module__, cls.__name__, cls.__qualname__ = __name__, name, name
    setattr(module, name, cls)
    return cls
