"""Options that are True or False: found by their annotation, and nothing else is taken for either.

To Python every text is true, ``"no"`` as well.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from gpop.common.arguments import plain
from gpop.common.errors import UsageError

KINDS = {"bool": False, "bool | None": True}
"""Annotations of flags, and whether one may be None."""

ONLY_BOOL = frozenset((bool,))
"""Types of flags that need no look; every call asks, and calls no function of Python where there is none."""


def flags_of(function: Callable[..., Any]) -> dict[str, bool]:
    """The flags among a function's parameters, and whether each may be None.

    Examples
    --------
    >>> def walk(steps: int, *, back: bool = False, weighted: bool | None = None): ...
    >>> flags_of(walk)
    {'back': False, 'weighted': True}
    """
    parameters = inspect.signature(function).parameters.values()
    return {each.name: KINDS[each.annotation] for each in parameters if each.annotation in KINDS}


def check_flags(flags: dict[str, bool], options: dict[str, Any]) -> None:
    """Have the flags among options be bool; a `UsageError` where one is not."""
    for name in flags.keys() & options.keys():
        value = options[name]
        if not (isinstance(value, bool) or (value is None and flags[name])):
            options[name] = as_flag(name, value)


def as_flag(what: str, value: Any) -> bool:
    """True or False, NumPy's or 1 and 0 as well, or a `UsageError`.

    Examples
    --------
    >>> import numpy as np
    >>> as_flag("weighted", np.True_), as_flag("weighted", 0)
    (True, False)
    >>> as_flag("interleave", "no")
    Traceback (most recent call last):
    gpop.common.errors.UsageError: interleave 'no': expected True or False
    """
    given = plain(value)
    try:
        number = operator.index(given)
    except TypeError:
        number = None
    if number not in (0, 1):
        raise UsageError(f"{what} {given!r}: expected True or False")
    return bool(number)
