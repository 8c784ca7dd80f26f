"""What a function refuses, beside the function: the one way to leave arguments to NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refusing(reason: Callable[..., str | None]) -> Callable[[Callable], Callable]:
    """Decorator: ``reason`` takes some of the function's arguments, by name, and returns why not, or None.

    Examples
    --------
    >>> @refusing(lambda weight: "weight is a function" if callable(weight) else None)
    ... def length(G, weight="weight"):
    ...     return 0
    >>> length.refuses(weight=len)
    'weight is a function'
    """

    def decorate(function: Callable) -> Callable:
        function.refuses = reason  # type: ignore[attr-defined]
        return function

    return decorate


def no_callable(weight: Any) -> str | None:
    """Weights that are computed by a function of the user.

    Examples
    --------
    >>> no_callable("weight"), no_callable(min)
    (None, 'the weight of an edge is a function')
    """
    return "the weight of an edge is a function" if callable(weight) else None
