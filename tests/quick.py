"""Which parameters of a test are run at every commit: the others are slow tests (pytest -m slow).

A kernel takes some seconds to compile, and there is one for each program, type of weights and way of running.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(values: Iterable[Any], *kept: Any) -> list[Any]:
    """These values as parameters of a test; all but those that are kept are slow."""
    return [value if value in kept else pytest.param(value, marks=pytest.mark.slow) for value in values]


def slow(values: Iterable[Any], *left: Any) -> list[Any]:
    """These values as parameters of a test; those that are left are slow."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in left else value for value in values]
