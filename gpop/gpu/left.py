"""Fields that a run has left on the device until somebody looks at them, and what goes if room is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import numpy as np

from gpop.common.arrays import unset
from gpop.gpu import device, staging
from gpop.gpu.device import cupy
from gpop.graph.graph import Graph

giving_way: WeakSet[Any] = WeakSet()
"""What takes room of a device that others may want: each has a method ``give_way``."""


class Kept:
    """An array that a run has left somewhere until it is looked at (`gpop.program.recipes.Recipe`)."""

    __slots__ = ()

    def on_host(self) -> np.ndarray:
        """The array."""
        raise NotImplementedError

    def fill(self, array: Any, others: Mapping[str, Any]) -> None:
        """Into another array, of the host or a device."""
        if isinstance(array, np.ndarray):
            np.copyto(array, self.on_host())
        else:
            staging.send(self.on_host(), array)

    def assign(self, vertex: int, value: Any) -> bool:
        """Done in the array."""
        return False

    def steps(self, address: int) -> list[int] | None:
        """It is fetched."""
        return None


class OnDevice(Kept):
    """Of a device; ``array`` is None before the run is over, and when it is on the host."""

    def __init__(self, array: Any, is_over: bool = True) -> None:
        self.array, self.length, self.dtype = array if is_over else None, len(array), array.dtype
        self.device = cupy().cuda.Device()
        self.fetched: np.ndarray | None = None
        giving_way.add(self)

    def on_host(self) -> np.ndarray:
        """The array, which is then no longer on the device for this."""
        array = self.array  # another thread may let go of it meanwhile
        if array is not None:
            found = unset(self.length, self.dtype)
            with self.device:
                staging.fetch(array, found)
            if self.fetched is None:  # else somebody has that one
                self.fetched, self.array = found, None
        return self.fetched

    def give_way(self) -> None:
        """To the host."""
        self.on_host()

    def here(self) -> Any:
        """The array where it is on the current device."""
        return self.array if self.device.id == cupy().cuda.Device().id else None


def make_room(graph: Graph, needed: int) -> None:
    """So many bytes of the device, if what was left there and what is kept with graphs can make them."""
    if needed > device.free_bytes():
        for each in _all_giving_way():
            each.give_way()
    graph.store.make_room(lambda: needed <= device.free_bytes(), device=True)


def _all_giving_way() -> list[Any]:
    """Those of `giving_way` now."""
    while True:
        with suppress(RuntimeError):  # another thread has added one meanwhile
            return list(giving_way)
