"""Kernels that other kernels call by their address: compiled by themselves, and not into their callers.

`gpop.common.foreign.call_c` calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from gpop.common.cached import keep_callback


def callback(function: Callable, name: str, arguments: int, **options: Any) -> int:
    """Address of a function of so many int64 that returns nothing; it is kept under the name."""
    return keep_callback(function, name, ((types.int64,) * arguments, types.void), **options).address
