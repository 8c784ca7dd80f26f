"""What makes Numba find the types of a program faster, with the same types: see compile_faster.py.

Its typing context tries all that it knows of an operator, one after another, for every use in every function:
strings, lists, dates, arrays. In a program of numbers nearly all uses are of a few operators on a few types.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from gpop.common.deferred import Later
from gpop.common.numba_private import (
    BaseFunction,
    ConfigStack,
    NumberClassAttribute,
    NumpyRulesArrayOperator,
    OverloadTemplate,
    types,
    utils,
)

parts = Later("gpop.common.inlined_parts")

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


_resolve_call = NumberClassAttribute.resolve___call__


def _resolve_call_once(attribute: Any, kind: Any) -> Any:
    """A type as a function, as ``uint64(x)``: once for each type, not a class of its own for each use."""
    known = vars(attribute.context).setdefault("gpop_number_classes", {})
    if kind not in known:
        known[kind] = _resolve_call(attribute, kind)
    return known[kind]


_find_call = BaseFunction.get_call_type
_NUMBERS = types.Number, types.Boolean


def _find_call_once(function: Any, context: Any, args: tuple, kws: dict) -> Any:
    """What a function of Numba's own gives for numbers: searched for once for each of them and their types.

    Functions to which somebody adds a rule are others: the rules are part of the key. What is itself
    compiled, as ``max``, is that of the caller's flags, and Numba's to find.
    """
    if kws or type(function) is not types.Function or not all(isinstance(each, _NUMBERS) for each in args):
        return _find_call(function, context, args, kws)
    known = vars(context).setdefault("gpop_calls", {})
    asked = function.key, tuple(args)
    if asked not in known:
        signature = _find_call(function, context, args, kws)
        if function._impl_keys[signature.args] != function.typing_key:
            return signature
        known[asked] = signature
    signature = known[asked]
    function._impl_keys[signature.args] = function.typing_key
    return signature


def install() -> None:
    """Put all of it in place of what Numba has."""
    NumpyRulesArrayOperator.generic = _match_arrays_only
    utils.order_by_target_specificity = _order_once
    OverloadTemplate._get_jit_decorator = _choose_part
    NumberClassAttribute.resolve___call__ = _resolve_call_once
    BaseFunction.get_call_type = _find_call_once
