"""Where specialised functions live so that Numba's disk cache finds them again.

Numba keys a cached kernel by its signature, its bytecode and its pickled closure cells. A closure
over a plain function would be pickled by value, and over a jitted one with a per-process id that
never matches. Functions published here are attributes of this module, so they are pickled as a
name, and the name ends in the content key of everything that went into them (user functions,
library sources, traits): same content, same name, cache hit; any edit, another name.
"""

from __future__ import annotations

import hashlib
import sys
import types
from functools import lru_cache
from pathlib import Path

import numba
from numba.extending import register_jitable

from gpop.lowering import helpers_of

KERNEL = {"_nrt": False, "error_model": "numpy"}
"""How kernels are compiled. They allocate nothing, so they need no reference counts: each array that a
function touches would otherwise cost a pair of atomic updates, most of the time of a small iteration.
Division by zero gives what NumPy gives, since an exception would leave the other threads waiting."""

inline = register_jitable(forceinline=True, **KERNEL)
"""Decorator of a function that becomes part of every kernel that calls it."""


@lru_cache(maxsize=1)
def library_key() -> str:
    """Key of the sources that are compiled into kernels, and of Numba's version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    package = Path(__file__).parent
    for path in sorted([*package.glob("*.py"), package.parent / "atomics.py", package.parent / "mode.py"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def publish(function: types.FunctionType, name: str, inlined: bool = True) -> types.FunctionType:
    """Make a function callable from kernels under a name that stands for its content."""
    module = sys.modules[__name__]
    if hasattr(module, name):
        return getattr(module, name)
    copy = types.FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
    copy.__module__, copy.__qualname__ = __name__, name
    for helper in helpers_of(copy):
        if helper.__module__ != __name__:
            register_jitable(**KERNEL)(helper)
    (inline if inlined else register_jitable(**KERNEL))(copy)
    setattr(module, name, copy)
    return copy


def publish_class(cls: type, name: str) -> type:
    """The same for a class (the state tuple of a program)."""
    module = sys.modules[__name__]
    if hasattr(module, name):
        return getattr(module, name)
    cls.__module__, cls.__name__, cls.__qualname__ = __name__, name, name
    setattr(module, name, cls)
    return cls
