"""Mail between the host and a kernel of one block: a block of the host's memory that both reach.

Copies before and behind a launch, and waiting for its stream, take as long as a run on a small graph. Here
the kernel fetches what it is sent and writes back its answer itself (kernels/mail.cuh), and the host looks at
a word that is written last. After `LOOKS` it waits for the stream instead, which also tells of a kernel that
failed, and lets other threads of Python on.

Who begins a launch waits for it before the next one, also after an interrupt: the answer to one would be
taken for that to the other.
"""

from __future__ import annotations

import platform

import numpy as np

from gpop.gpu.device import cupy, pinned
from gpop.gpu.structs import argument

UNIT = 16
"""Bytes that a thread moves at once: blocks begin at whole ones, and what travels is rounded up to them."""

MAIL = np.dtype([("host", "u8"), ("device", "u8"), ("letter", "u4"), ("answer", "u4"), ("answered", "u8")])
"""``struct Mail``."""

IN_ORDER = platform.machine().lower() in ("x86_64", "amd64")
"""Whether this processor's loads see what the device has written in the order in which it was written."""

LOOKS = 4096 if IN_ORDER else 0
"""Some 0.2 ms: to wait for the stream takes some microseconds more, which then no longer count."""


class Mail:
    """A block at addresses of host (pinned) and device: ``letter`` bytes go there, ``answer`` come back.

    Attributes
    ----------
    argument : ndarray
        ``struct Mail``, for a launch.
    """

    def __init__(self, host: int, device: int, letter: int, answer: int) -> None:
        answered = pinned(1, np.dtype(np.uint64))
        self._answered = memoryview(answered)
        at = int(answered.ctypes.data)
        struct = host, device, -(-letter // UNIT), -(-answer // UNIT), at
        self.argument = argument(np.array([struct], MAIL))

    def post(self) -> None:
        """What lies on the host goes with the launch that follows."""
        self._answered[0] = 0

    def wait(self, stream: int) -> None:
        """Until the answer is there."""
        answered = self._answered
        for _ in range(LOOKS):
            if answered[0]:
                break
        else:
            cupy().cuda.runtime.streamSynchronize(stream)

    @property
    def milliseconds(self) -> float:
        """Between letter and answer, of the kernel that has answered."""
        return 1e-6 * (self._answered[0] - 1)
