"""Large fields between arrays of the host and the device: several threads, each with a pinned piece.

The driver copies to and from pageable memory with one thread, through a small pinned buffer of its own, at a
fraction of what the link takes. Here a thread has a stream and `PIECE` pinned bytes: while one copies between
its piece and the array, the piece of another is on the link. Small fields travel with Control
(`gpop.gpu.exchange`), and what is less than `LARGE` as CuPy does it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from gpop.common.parallel import together, worker_count
from gpop.gpu.device import cupy, pinned

PIECE = 1 << 22
LARGE = 1 << 24
MOST_LANES = 8
"""They hold 32 MB of pinned memory for good; a link is full with fewer."""


def send(field: np.ndarray, array: Any) -> None:
    """A field to the device, behind what its stream has to do; there when this returns."""
    if not _is_worth_it(field):
        array.set(field)
        return
    runtime = cupy().cuda.runtime
    data = field.view(np.uint8)

    def move(at: int, piece: np.ndarray, stream: Any) -> None:
        part = data[at : at + PIECE]
        piece[: part.size] = part
        to, of = array.data.ptr + at, piece.ctypes.data
        runtime.memcpyAsync(to, of, part.size, runtime.memcpyHostToDevice, stream.ptr)
        stream.synchronize()

    _in_pieces(data.size, move)


def fetch(array: Any, field: np.ndarray) -> None:
    """An array of the device to where the field is, when its stream has done what it had to."""
    if not _is_worth_it(field):
        array.get(out=field)
        return
    runtime = cupy().cuda.runtime
    data = field.view(np.uint8)

    def move(at: int, piece: np.ndarray, stream: Any) -> None:
        part = data[at : at + PIECE]
        to, of = piece.ctypes.data, array.data.ptr + at
        runtime.memcpyAsync(to, of, part.size, runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()
        part[:] = piece[: part.size]

    _in_pieces(data.size, move)


def _is_worth_it(field: np.ndarray) -> bool:
    return field.nbytes >= LARGE and field.flags.c_contiguous and field.ndim == 1 and worker_count() > 1


def _in_pieces(size: int, move: Any) -> None:
    """``move(at, piece, stream)`` for every piece of so many bytes; threads take the next one."""
    device = cupy().cuda.Device()
    cupy().cuda.runtime.streamSynchronize(cupy().cuda.get_current_stream().ptr)
    lanes = _lanes(device.id, min(worker_count(), MOST_LANES))
    numbers = count()

    def work(lane: int) -> None:
        device.use()  # a thread's own setting
        while (at := next(numbers) * PIECE) < size:
            move(at, *lanes[lane])

    together(work, min(len(lanes), -(-size // PIECE)))


@lru_cache(maxsize=16)
def _lanes(device: int, lanes: int) -> list[tuple[np.ndarray, Any]]:
    """Pinned piece and stream of each thread."""
    del device  # a stream belongs to one
    dtype = np.dtype(np.uint8)
    return [(pinned(PIECE, dtype), cupy().cuda.Stream(non_blocking=True)) for _ in range(lanes)]
