"""What makes Numba compile faster, with the same code at the end: for the versions that it was measured with.

It took a tenth to a seventh off the time that a loop of gpop takes to compile; with typing_faster.py and
what is said of rules, locks, variables and errors below, an eighth of the instructions that were left. Lost
are Numba's own notes of how long its two locks were held.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gpop.common import typing_faster
from gpop.common.deferred import Later
from gpop.common.numba_private import (
    BaseContext,
    ConfigStack,
    CPUContext,
    PostProcessor,
    TargetConfig,
    VariableLifetime,
    base,
    compiler_machinery,
    errors,
    event,
    ir,
    lowering,
    transforms,
    typeinfer,
)

lean_arrays = Later("gpop.common.lean_arrays")


@cache
def _defaults(kind: type) -> dict[str, Any]:
    return {name: option.default for name, option in kind.options.items()}


def _values(config: TargetConfig) -> dict[str, Any]:
    """The same dictionary, without a call of a property for each of some forty options: while a program is
    compiled flags are compared tens of thousands of times."""
    return {**_defaults(type(config)), **config._values}


_find_lifetimes = PostProcessor.run


def _find_when_asked(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Not after each of nine passes: only generators ask, and what handles objects of Python or counts
    references. A kernel that counts none makes no array, and what looks for deletions looks for arrays."""
    form = processor.func_ir
    flags = ConfigStack().top_or_none()
    if form.is_generator or (emit_dels and (flags is None or flags.nrt)):
        return _find_lifetimes(processor, emit_dels, extend_lifetimes)
    form.blocks = transforms.canonicalize_cfg(form.blocks)
    form.variable_lifetime = VariableLifetime(form.blocks)
    form.generator_info = None


def _abi_sizeof(context: BaseContext, kind: Any) -> int:
    """Once for each type: LLVM is given a module with a variable of it, as text, to find out."""
    known = vars(context).setdefault("gpop_abi_sizes", {})
    if kind not in known:
        known[kind] = kind.get_abi_size(context.target_data)
    return known[kind]


_load_registries = CPUContext.load_additional_registries


def _load_without_scipy(context: CPUContext) -> None:
    """What Numba knows of NumPy is loaded, and SciPy found, not imported: that is done where a kernel
    multiplies matrices."""
    if "numba.np.arraymath" not in sys.modules:
        linear = import_module("numba.np.linalg")
        asked, linear.ensure_blas = linear.ensure_blas, _find_scipy
        try:
            import_module("numba.np.arraymath")
        finally:
            linear.ensure_blas = asked
    lean_arrays.install()
    _load_registries(context)


def _find_scipy() -> None:
    if find_spec("scipy") is None:
        raise ImportError("no SciPy")


_takes_place = base._has_loc


def _takes_place_fast(rule: Any) -> bool:
    """Whether a rule for lowering takes ``loc``: read from its code, instead of a signature in each use."""
    code = getattr(rule, "__code__", None)
    if code is None or hasattr(rule, "__wrapped__") or hasattr(rule, "__signature__"):
        return _takes_place(rule)
    rest = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return "loc" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + rest]


_start, _end, _install_timer = event.start_event, event.end_event, event.install_timer
LOCKS = "numba:llvm_lock", "numba:compiler_lock"


def _start_where_heard(kind: str, data: Any = None) -> None:
    if event._registered.get(kind):
        _start(kind, data)


def _end_where_heard(kind: str, data: Any = None, exc_details: Any = None) -> None:
    if event._registered.get(kind):
        _end(kind, data, exc_details)


def _time_no_locks(kind: str, callback: Any) -> AbstractContextManager:
    """A timer, but none of the locks, for which each of a hundred thousand calls of LLVM is an event."""
    return nullcontext() if kind in LOCKS else _install_timer(kind, callback)


_list_vars = ir.Inst._rec_list_vars
_WITHOUT = frozenset((str, int, float, bool, type(None), ir.Loc))


def _list_vars_fast(statement: Any, value: Any) -> list:
    """Variables in the same order: by the class of what is there, in one list instead of one for each."""
    kind, found = type(value), []
    if kind not in (dict, list, tuple):
        return _list_vars(statement, value)
    for each in value.values() if kind is dict else value:
        kind = type(each)
        if kind is ir.Var:
            found.append(each)
        elif kind not in _WITHOUT:
            found += _list_vars_fast(statement, each)
    return found


class _ErrorContext:
    """``new_error_context`` without a generator: nearly all of them see no error."""

    __slots__ = "about", "args", "text"

    def __init__(self, fmt_: str, *args: Any, **kwargs: Any) -> None:
        self.text, self.args, self.about = fmt_, args, kwargs

    def __enter__(self) -> None:
        place = self.about.get("loc")
        if place is not None and not place.filename.startswith(errors._numba_path):
            errors.loc_info.update(self.about)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(errors._format_msg(self.text, self.args, self.about))


def _nothing(form: Any) -> None:
    """Not after each pass: whether it has left deletions, which none of Numba's does."""


def install() -> None:
    """Put all of it in place of what Numba has."""
    TargetConfig.values = _values
    PostProcessor.run = _find_when_asked
    BaseContext.get_abi_sizeof = _abi_sizeof
    CPUContext.load_additional_registries = _load_without_scipy
    base._has_loc = _takes_place_fast
    event.start_event, event.end_event = _start_where_heard, _end_where_heard
    event.install_timer = _time_no_locks
    ir.Inst._rec_list_vars = _list_vars_fast
    for module in (errors, lowering, typeinfer):
        module.new_error_context = _ErrorContext
    compiler_machinery.enforce_no_dels = _nothing
    typing_faster.install()
