"""Which Numba is there, without importing it: that takes longer than most searches of a graph.

Its version stands in a file beside its code. Where that cannot be read, Numba is imported and asked.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib.util import find_spec

TESTED = "0.64", "0.68"
"""The lowest and the highest minor version of Numba that the tests were run with (also in pyproject.toml)."""


def _minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def version() -> str:
    """Numba's version.

    Examples
    --------
    >>> version()[:2]
    '0.'
    """
    if "numba" not in sys.modules:
        found = _written()
        if found:
            return found
    import numba

    return numba.__version__


@cache
def _written() -> str | None:
    try:
        with open(os.path.join(folder() or "", "_version.py"), encoding="utf-8") as file:
            found = re.search(r'"version": "([0-9.]+)"', file.read())
    except (OSError, UnicodeDecodeError):
        return None
    return found and found[1]


@cache
def folder() -> str | None:
    """Where Numba's files are."""
    spec = find_spec("numba")
    places = spec.submodule_search_locations if spec else None
    return places[0] if places else None


IS_TESTED = _minor(TESTED[0]) <= _minor(version()) <= _minor(TESTED[1])
