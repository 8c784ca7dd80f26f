"""A number of bytes that was given as an option: ``4GB``, or a plain number."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from gpop.common.errors import UsageError
from gpop.common.memory import bytes_of


def as_bytes(what: str, size: Any) -> int | None:
    """The number, at least 1; None stays None.

    Raises
    ------
    UsageError
        With ``what`` it is, and what was expected.

    Examples
    --------
    >>> as_bytes("memory", "1.5GB"), as_bytes("memory", 300)
    (1500000000, 300)
    >>> as_bytes("memory", "many")
    Traceback (most recent call last):
    gpop.common.errors.UsageError: memory = 'many': expected bytes, such as 4000000000 or '4GB'
    """
    if size is None:
        return None
    found = bytes_of(size) if isinstance(size, str) else None
    if isinstance(size, Integral) and not isinstance(size, bool):
        found = int(size)
    if found is None or found < 1:
        raise UsageError(f"{what} = {size!r}: expected bytes, such as 4000000000 or '4GB'")
    return found
