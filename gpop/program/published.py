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

from gpop.common.inlined import inline
from gpop.program.content_key import names_in


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
        helper = getattr(value, "py_func", value)
        if not isinstance(helper, types.FunctionType):
            return value
        return _publish_copy(helper, f"{helper.__name__}_{len(done)}_{caller}", caller, done)

    names, cells = dict(function.__globals__), tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, name, function.__defaults__, cells)
    done[id(function)] = copy
    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = rebound(original.cell_contents)
    for used in sorted(names_in(function.__code__) & names.keys()):
        names[used] = rebound(names[used])
    return publish(copy, name)


def publish_class(make: Callable[[], type], name: str) -> type:
    """The same for a class (the state tuple of a program), made when it is not there yet."""
    module = sys.modules[__name__]
    if hasattr(module, name):
        return getattr(module, name)
    cls = make()
    cls.__module__, cls.__name__, cls.__qualname__ = __name__, name, name
    setattr(module, name, cls)
    return cls
