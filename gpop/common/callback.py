"""Kernels that other kernels call by their address: compiled by themselves, and not into their callers.

`gpop.common.foreign.call_c` calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpop.common.deferred import compiler
from gpop.common.interrupts import held_back
from gpop.common.kinds import INT64
from gpop.common.machine_code import load_address, place_of, store


def callback(make: Callable[[], Callable], name: str, file: str, arguments: int, **options: Any) -> int:
    """Address of a function of so many int64 that returns nothing.

    It is kept under the name, which stands for all that goes into it, beside the ``file`` that ``make`` makes
    it in; it is made only where it is not kept.
    """
    place = place_of(name, file, (INT64,) * arguments)
    found = load_address(place)
    if found is None:
        with held_back():
            made = compiler().kept_callback(make(), name, arguments, options)
            code = compiler().entry_by_address(made)
            if code:
                store(place, *code)
            found = made.address
    return found
