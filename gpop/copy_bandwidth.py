"""Copy bandwidth of a target: what moving bytes costs there, measured in a moment.

Counted are the bytes read and the bytes written, 2 per byte copied, over arrays far larger than caches.
"""

from __future__ import annotations

import time

import numpy as np

from gpop.common.parallel import for_each, ranges, worker_count

CPU_BYTES = 1 << 28
GPU_BYTES = 1 << 30
ROUNDS = 5


def copy_bandwidth(target: str, threads: int | None = None) -> float:
    """Bytes per second of a large copy: a limit, so the best of a few rounds.

    Examples
    --------
    >>> copy_bandwidth("cpu", threads=1) > 1e8
    True
    """
    return _gpu() if target == "gpu" else _cpu(threads or worker_count())


def _cpu(threads: int) -> float:
    source, destination = np.ones(CPU_BYTES, np.uint8), np.empty(CPU_BYTES, np.uint8)
    parts = list(ranges(CPU_BYTES, -(-CPU_BYTES // threads)))

    def copy(i: int) -> None:
        first, last = parts[i]
        np.copyto(destination[first:last], source[first:last])

    seconds = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        for_each(len(parts), copy, threads)
        seconds.append(time.perf_counter() - start)
    return 2 * CPU_BYTES / min(seconds[1:])


def _gpu() -> float:
    from gpop.gpu.device import cupy, require_device_memory

    require_device_memory(2 * GPU_BYTES, "measuring the copy bandwidth")
    source, destination = cupy().ones(GPU_BYTES // 4, np.float32), cupy().empty(GPU_BYTES // 4, np.float32)
    begin, end = cupy().cuda.Event(), cupy().cuda.Event()
    seconds = []
    for _ in range(ROUNDS + 1):
        begin.record()
        cupy().copyto(destination, source)
        end.record()
        end.synchronize()
        seconds.append(1e-3 * cupy().cuda.get_elapsed_time(begin, end))
    return 2 * GPU_BYTES / min(seconds[1:])
