"""What a kernel of one block copies itself, between its device and memory of the host that both reach.

Copies before and behind a launch, and events around it, take as long as a run on a small graph: a search of
34 vertices took 124 us with them and 105 without, on an H200. The kernel fetches what it is sent and writes
back its answer (kernels/mail.cuh); the host waits for the stream as ever. To look at a word that the kernel
writes last, instead of waiting, gained nothing more.
"""

from __future__ import annotations

import numpy as np

from gpop.gpu.device import pinned
from gpop.gpu.structs import argument

UNIT = 16
"""Bytes that a thread moves at once: blocks begin at whole ones, and what travels is rounded up to them."""

MAIL = np.dtype([("host", "u8"), ("device", "u8"), ("letter", "u4"), ("answer", "u4"), ("took", "u8")])
"""``struct Mail``."""


class Mail:
    """A block at addresses of host (pinned) and device: ``letter`` bytes go there, ``answer`` come back.

    Attributes
    ----------
    argument : ndarray
        ``struct Mail``, for a launch.
    took : memoryview
        Nanoseconds between letter and answer, of the launch that was waited for.
    """

    def __init__(self, host: int, device: int, letter: int, answer: int) -> None:
        took = pinned(1, np.dtype(np.int64))
        self.took = memoryview(took)
        at = int(took.ctypes.data)
        struct = host, device, -(-letter // UNIT), -(-answer // UNIT), at
        self.argument = argument(np.array([struct], MAIL))

    @property
    def milliseconds(self) -> float:
        """The same."""
        return 1e-6 * self.took[0]
