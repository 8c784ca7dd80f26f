"""What makes Numba compile faster, with the same code at the end: for the versions that it was measured with.

Together it takes a tenth to a seventh off the time that a loop of gpop takes to compile.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gpop.common.deferred import Later
from gpop.common.numba_private import (
    BaseContext,
    ConfigStack,
    CPUContext,
    NumpyRulesArrayOperator,
    OverloadTemplate,
    PostProcessor,
    TargetConfig,
    VariableLifetime,
    transforms,
    types,
    utils,
)

lean_arrays, parts = Later("gpop.common.lean_arrays"), Later("gpop.common.inlined_parts")


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


_match_arrays = NumpyRulesArrayOperator.generic


def _match_arrays_only(template: Any, args: tuple, kws: dict) -> Any:
    """An operator of NumPy: none for numbers, without a search through NumPy's loops for one."""
    if any(isinstance(each, types.ArrayCompatible) for each in args):
        return _match_arrays(template, args, kws)
    return None


_order_once = cache(utils.order_by_target_specificity)
"""Asked for every call in a program that is typed, and there are as many orders as functions."""


_choose_decorator = OverloadTemplate._get_jit_decorator


def _choose_part(template: Any) -> Any:
    """What stands for a function of Python or NumPy in a kernel, as ``min``, only becomes a part of it."""
    decorate, flags = _choose_decorator(template), ConfigStack().top_or_none()
    return decorate if flags is None or flags.nrt else partial(decorate, **parts.PIPELINE)


def install() -> None:
    """Put all of it in place of what Numba has."""
    TargetConfig.values = _values
    PostProcessor.run = _find_when_asked
    BaseContext.get_abi_sizeof = _abi_sizeof
    CPUContext.load_additional_registries = _load_without_scipy
    NumpyRulesArrayOperator.generic = _match_arrays_only
    utils.order_by_target_specificity = _order_once
    OverloadTemplate._get_jit_decorator = _choose_part
