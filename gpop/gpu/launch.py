"""A kernel with its grid and its arguments, laid out once for many launches.

CuPy looks at every argument anew in each launch, which takes longer than the launch itself. Here the driver
is given the addresses of the arguments; who has others next time writes them where the old ones were.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpop.gpu.device import cupy


class Launch:
    """One kernel; ``arguments`` are arrays of one item, structs and numbers, addresses on the device.

    ``together``: cooperative, its blocks may wait for each other.
    """

    def __init__(
        self,
        kernel: Any,
        blocks: int,
        threads: int,
        arguments: tuple[np.ndarray, ...],
        shared: int = 0,
        together: bool = False,
    ) -> None:
        self.kernel, self.arguments = kernel, arguments  # the driver reads what both hold
        addresses = [each.ctypes.data for each in arguments]
        self._addresses = (ctypes.c_void_p * len(addresses))(*addresses)
        self._given = kernel.kernel.ptr, blocks, 1, 1, threads, 1, 1, shared
        self._end = (ctypes.addressof(self._addresses), *(() if together else (0,)))
        driver = cupy().cuda.driver
        self._launch = driver.launchCooperativeKernel if together else driver.launchKernel

    def __call__(self, stream: int) -> None:
        """Have it run on a stream, with what its arguments are now."""
        self._launch(*self._given, stream, *self._end)

    def on(self, stream: int) -> Callable[[], None]:
        """The same of one stream, for who launches there again and again: a call of the driver itself."""
        return partial(self._launch, *self._given, stream, *self._end)
