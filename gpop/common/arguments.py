"""Arguments as users give them, of any library's types: whole numbers, and how messages name others."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any

import numpy as np

from gpop.common.errors import UsageError


def as_count(what: str, number: Any) -> int | None:
    """A whole number of any integer type as an int; None is left.

    Examples
    --------
    >>> as_count("threads", np.uint8(4)), as_count("threads", None)
    (4, None)
    """
    return None if number is None else whole(what, number)


def whole(what: str, number: Any) -> int:
    """A whole number of any integer type as an int, or a `UsageError`.

    Examples
    --------
    >>> whole("seed", np.uint8(4))
    4
    """
    try:
        return operator.index(number)
    except TypeError:
        raise UsageError(f"{what} {plain(number)!r}: expected a whole number") from None


def as_index(value: Any) -> int | None:
    """The vertex index that a value is, of any integer type; None of anything else, a boolean, too.

    Examples
    --------
    >>> as_index(np.uint8(4)), as_index(True), as_index("anna")
    (4, None, None)
    """
    if isinstance(value, bool):  # Python's are whole numbers: a mask would be vertices 0 and 1
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def real(what: str, number: Any) -> Any:
    """A number as Python's own, whole or not, or a `UsageError`.

    Examples
    --------
    >>> real("probability", np.float64(0.5)), real("probability", 1)
    (0.5, 1)
    """
    if not isinstance(number, Real):
        raise UsageError(f"{what} {plain(number)!r}: expected a number")
    return plain(number)


def whole_from(least: int, what: str, number: Any) -> int:
    """A whole number of any integer type that is at least ``least``, or a `UsageError`.

    Examples
    --------
    >>> whole_from(1, "levels", np.uint8(4))
    4
    """
    count = as_count(what, number)
    if count is None or count < least:
        raise UsageError(f"{what} {plain(number)!r}: expected a whole number from {least} on")
    return count


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python object that it holds, for messages; anything else as it is.

    >>> plain(np.str_("anna")), plain(np.int64(3)), plain("bo")
    ('anna', 3, 'bo')
    """
    return value.item() if isinstance(value, np.generic) else value


def kind_of(value: Any) -> str:
    """The type of what was given instead of what was expected, with its library.

    >>> kind_of([1]), kind_of(np.zeros(1))
    ('list', 'numpy.ndarray')
    """
    library = type(value).__module__.partition(".")[0]
    name = type(value).__name__
    return name if library == "builtins" else f"{library}.{name}"
