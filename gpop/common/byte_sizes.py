"""Numbers of bytes as people write them: ``4GB``, ``512 MiB``, or a plain number."""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any

from gpop.common.errors import UsageError

UNITS = {
    "": 1, "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", start=1)},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", start=1)},
}  # fmt: skip
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)")


def as_bytes(what: str, size: Any) -> int | None:
    """The number, at least 1; None stays None.

    Raises
    ------
    UsageError
        With ``what`` it is, and what was expected.

    Examples
    --------
    >>> as_bytes("memory", "1.5GB"), as_bytes("memory", "2 KiB"), as_bytes("memory", 300)
    (1500000000, 2048, 300)
    >>> as_bytes("memory", "many")
    Traceback (most recent call last):
    gpop.common.errors.UsageError: memory = 'many': expected bytes, such as 4000000000 or '4GB'
    """
    if size is None:
        return None
    found = None
    if isinstance(size, Integral) and not isinstance(size, bool):
        found = int(size)
    elif isinstance(size, str) and (parts := SIZE.fullmatch(size.strip())):
        unit = UNITS.get(parts[2].upper())
        found = None if unit is None else int(float(parts[1]) * unit)
    if found is None or found < 1:
        raise UsageError(f"{what} = {size!r}: expected bytes, such as 4000000000 or '4GB'")
    return found
