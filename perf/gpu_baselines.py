"""Edge-parallel and vertex-parallel baselines on the GPU: plain CSR, no partitions, no bins.

Kernels and the bytes they move are in ``gpu_baselines.cu``. Both strategies push along out-edges for BFS and
SSSP; PageRank takes edges by destination, so that neighbouring threads share their sums. Encodings are those
of the apps: level is -1 and distance 2**31-1 where not reached, ranks are float32.
Times are those of CUDA events around the kernels; filling arrays before and copying answers back is not in
them, as it is not in those of the engine. A launch by CuPy takes 1.7 us longer in them than the engine's, by
the driver (an empty kernel on an H200: 10.7 and 8.9 us). The engine also writes a trace, and for BFS who the
parent of each vertex is.
Papers: docs 000 (Verstraaten et al.: edge- and vertex-parallel strategies) and 001 (GPOP).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.common.errors import UsageError
from gpop.gpu.device import cupy, current_device, require_device_memory
from gpop.gpu.kernel import OPTIONS, compile_kernel

STRATEGIES = ("edge", "vertex")
APPS = ("pagerank", "bfs", "sssp")

BLOCK, LEVEL_BLOCK = 256, 1024
"""Threads of a block: of the PageRank kernels, and of those that do all levels."""

BLOCKS_PER_MULTIPROCESSOR = 2
"""So many of `LEVEL_BLOCK` threads are resident (__launch_bounds__)."""

PIECE = 512
"""Out-edges that one warp takes, as in ``gpu_baselines.cu``."""

FARTHEST, NEVER = np.uint32(2**31 - 1), np.uint32(2**32 - 1)


class Answer(NamedTuple):
    """What a baseline found, and how long it took; ``seconds`` of all ``iterations`` together."""

    values: np.ndarray
    iterations: int
    seconds: float


@lru_cache(maxsize=1)
def source_text() -> str:
    """The CUDA source."""
    return Path(__file__).with_suffix(".cu").read_text()


def lanes_per_vertex(n: int, m: int) -> int:
    """Threads that pull one vertex of a graph: a power of two that its mean degree fills.

    Examples
    --------
    >>> lanes_per_vertex(100, 3100), lanes_per_vertex(100, 400), lanes_per_vertex(100, 10)
    (16, 4, 4)
    """
    mean = m // max(n, 1)
    return min(32, max(4, 1 << max(mean, 1).bit_length() - 1))


class Baselines:
    """The arrays of one graph on the device, and the runs over them."""

    def __init__(self, graph: gpop.Graph) -> None:
        if graph.n == 0 or graph.m >= 2**32 - 4:
            raise UsageError(f"baselines on {graph!r}: expected a vertex, and fewer than 2**32 - 4 edges")
        if graph.weights is not None and graph.weights.dtype.kind not in "iu":
            raise UsageError(f"baselines on {graph!r}: expected whole-number weights")
        self.graph = graph
        require_device_memory(20 * graph.m + 60 * graph.n, f"baselines on {graph!r}")
        self.cooperative = compile_kernel(source_text())
        self.ordinary = cupy().RawModule(code=source_text(), options=OPTIONS)
        self.out_edges = self._edges(graph)
        self.in_edges = self.out_edges if graph.equals_reverse() else self._edges(graph.reverse())
        self.weights = None if graph.weights is None else _padded(graph.weights)

    def _edges(self, graph: gpop.Graph) -> tuple[Any, Any, Any]:
        """Offsets, and both ends of every edge in the order of the rows."""
        rows = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.out_degree)
        return cupy().asarray(graph.indptr.astype(np.uint32)), _padded(rows), _padded(graph.indices)

    def run(self, app: str, strategy: str, *, source: int = 0, iterations: int = 20) -> Answer:
        """One run; ``source`` is for bfs and sssp, ``iterations`` for pagerank."""
        if app == "pagerank":
            return self._pagerank(strategy, iterations)
        n, infinity = self.graph.n, np.int32(-1) if app == "bfs" else FARTHEST
        values = cupy().full(n, infinity, np.int32 if app == "bfs" else np.uint32)
        values[source] = 0
        arguments = [values]
        if app == "sssp":
            turn = cupy().full(n, NEVER, np.uint32)
            turn[source] = 0
            arguments.append(turn)
        progress = np.zeros(5, np.uint32)  # struct Progress
        indptr, rows, columns = self.out_edges
        edges = [columns] if app == "bfs" else [columns, self.weights]
        if strategy == "edge":
            arguments = [rows, *edges, np.uint32(self.graph.m), *arguments]
        else:
            size = n + self.graph.m // PIECE + 1
            queues = [cupy().zeros(2 * size, np.uint32) for _ in range(2)]
            pieces = max(1, -(-int(self.graph.out_degree[source]) // PIECE))
            first = np.stack([np.full(pieces, source), np.arange(pieces)], axis=1).astype(np.uint32)
            queues[0][: first.size].set(first.ravel())
            progress[0] = pieces
            arguments = [indptr, *edges, *arguments, *queues]
        progress = cupy().asarray(progress)
        kernel = self.cooperative.get_function(f"{app}_{strategy}")
        blocks = BLOCKS_PER_MULTIPROCESSOR * current_device().multiprocessors
        seconds = timed(lambda: kernel((blocks,), (LEVEL_BLOCK,), (*arguments, progress)))
        return Answer(values.get(), int(progress[4]), seconds)

    def _pagerank(self, strategy: str, iterations: int, damping: float = 0.85) -> Answer:
        graph, n, m = self.graph, np.uint32(self.graph.n), np.uint32(self.graph.m)
        per_edge = cupy().asarray((1 / np.maximum(graph.out_degree, 1)).astype(np.float32))
        share, other = per_edge * np.float32(1 / graph.n), cupy().zeros(graph.n, np.float32)
        indptr, rows, columns = self.in_edges
        finishing = (per_edge, np.float64((1 - damping) / graph.n), np.float64(damping))
        lanes = lanes_per_vertex(graph.n, graph.m)
        pull = self.ordinary.get_function(f"pagerank_vertex_{lanes}")
        add, finish = (self.ordinary.get_function(f"pagerank_{name}") for name in ("edge", "finish"))

        def iterate() -> None:
            nonlocal share, other
            for _ in range(iterations):
                if strategy == "vertex":
                    pull(_blocks(graph.n * lanes), (BLOCK,), (indptr, columns, n, *finishing, share, other))
                    share, other = other, share
                else:
                    if graph.m:
                        add(_blocks(graph.m), (BLOCK,), (columns, rows, m, share, other))
                    finish(_blocks(graph.n), (BLOCK,), (n, *finishing, other, share))

        seconds = timed(iterate)
        return Answer((share / per_edge).get(), iterations, seconds)


def timed(work: Any) -> float:
    """Seconds between CUDA events before and after what ``work`` launches."""
    begin, end = cupy().cuda.Event(), cupy().cuda.Event()
    begin.record()
    work()
    end.record()
    end.synchronize()
    return 1e-3 * cupy().cuda.get_elapsed_time(begin, end)


def _blocks(threads: int) -> tuple[int]:
    return (-(-threads // BLOCK),)


def _padded_size(m: int) -> int:
    """Kernels read four edges at once."""
    return max(4, -(-m // 4) * 4)


def _padded(values: np.ndarray) -> Any:
    """An array of the edges on the device, as uint32."""
    array = cupy().zeros(_padded_size(len(values)), np.uint32)
    if len(values):
        array[: len(values)].set(np.ascontiguousarray(values, np.uint32))
    return array
