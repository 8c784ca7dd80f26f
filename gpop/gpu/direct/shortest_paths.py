"""Shortest paths on a GPU, with lists by weight and the steps of `gpop.direct.shortest_paths`.

All of a search is one cooperative launch (kernels/direct/shortest_paths.cuh): a barrier ends a step, and one
thread decides which one follows. Near and far vertices are bits, and a step looks at all words of them, so
that nothing is appended and no vertex is listed twice.
Papers: those of `gpop.direct.shortest_paths`; A. Davidson, S. Baxter, M. Garland, J. D. Owens,
"Work-efficient parallel GPU methods for single-source shortest paths", IPDPS 2014.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.on_demand import OnDemand
from gpop.gpu import limits
from gpop.gpu.device import cupy, current_device
from gpop.gpu.direct.by_weight import device_lines
from gpop.gpu.direct.phases import Phases, source_of
from gpop.gpu.left import OnDevice
from gpop.gpu.structs import argument
from gpop.graph.degrees import UNEVEN, unevenness
from gpop.graph.graph import Graph
from gpop.layout.partition import mostly_near
from gpop.model.light_first import FARTHEST, FEW, FULL, NEVER, PHASES, VISIT

WIDTHS, LATER_WIDTH = {"large": (2, 4), "long": (64, 64), "other": (8, 8)}, 80
"""Of a bucket and of the stretch up to a cut, and of a bucket after the pull: in mean weights over the mean
degree. Where a step is short its barrier is most of it; a large graph with hubs (`MANY_EDGES`, `UNEVEN`) has
enough to do in narrow ones. On an H200 these take at most 1.25 of the best of seven widths on 15 graphs: RMAT
and random ones of 7 M to 537 M edges, votes, mails, friends, citations, a web graph. Where vertices have few
edges (`FEW_EDGES`), or neighbours are near each other, hubs are not reached in a few steps: there 64 take .7
to .9 of the time of 8, but on large graphs 2 do."""

MANY_EDGES = 1 << 23

FEW_EDGES, MANY_OF_FEW = 12, 1 << 20
"""Edges of a vertex in the mean; edges of a graph in which they are few, from which on it is large."""

INLINE, PIECE = 64, 256
"""Longer lists are left to a step of their own, in pieces of so many edges, a warp each."""

SPACE = np.dtype(
    [(name, "u8") for name in ("distance", "sent", "bits")]
    + [("words", "i8"), ("pieces", "u8"), ("most_pieces", "i8")]
)
"""``struct Space`` of shortest_paths_plan.cuh."""

CONTROL = np.dtype(
    [
        (name, "u8")
        for name in (
            "high", "cut", "width", "window", "later", "least", "next", "mass", "settled", "walked", "near",
            "joined", "kept", "row", "pieces", "left", "asks", "step", "steps", "started",
        )
    ]
    + [("edges", "u8", len(PHASES)), ("times", "u8", len(PHASES)), ("arrived", "u4"), ("released", "u4")]
)  # fmt: skip
"""``struct Control`` there."""

_PIECE_BYTES = 16  # struct Piece
_ROWS = 5  # of bits
_REST = PHASES.index("rest")


class Distances(NamedTuple):
    """As `gpop.direct.shortest_paths.Distances`, which stay on the device until somebody looks at them; and
    the seconds of copying the graph there.

    ``seconds`` are those between two events; a phase's are of the device's clock.
    """

    distance: OnDemand
    below: int
    edges: np.ndarray
    phase_seconds: np.ndarray
    seconds: float
    copy_seconds: float
    threads: int


def search(graph: Graph, start: int, unit: float) -> Distances:
    """Distances from a vertex of a graph with whole-number weights; ``unit``: mean weight over mean degree.

    Raises
    ------
    NotEnoughMemory
        If lists and distances do not fit the device.
    """
    n, words = graph.n, -(-graph.n // 32)
    back = graph if graph.equals_reverse() else graph.reverse()
    most_pieces = graph.m // INLINE + graph.m // PIECE + 1
    others = 8 * n + 4 * _ROWS * words + 2 * _PIECE_BYTES * most_pieces
    lines, copy_seconds = device_lines(graph, others, "shortest paths")
    in_lines = lines
    if back is not graph:
        in_lines, more_seconds = device_lines(back, others, "shortest paths")
        copy_seconds += more_seconds
    if max(lines.longest, in_lines.longest) <= INLINE:
        most_pieces = 0
    pieces = cupy().empty(2 * _PIECE_BYTES * most_pieces + 1, np.uint8)
    distance, sent = cupy().empty(n, np.uint32), cupy().empty(n, np.uint32)
    bits = cupy().zeros(_ROWS * words, np.uint32)
    control = cupy().asarray(_begin(graph, unit).view(np.uint64))
    addresses = (distance.data.ptr, sent.data.ptr, bits.data.ptr, words, pieces.data.ptr, most_pieces)
    phases = Phases(source(), cooperative=True)
    phases.mark()
    phases.launch(
        "search", lines.argument, in_lines.argument, argument(np.array([addresses], SPACE)), control,
        np.uint32(start), blocks=current_device().multiprocessors, threads=limits.BLOCK_THREADS,
    )  # fmt: skip
    phases.mark()
    over = control.get().view(CONTROL)[0]  # waits for the kernel
    seconds = float(phases.seconds()[0])
    found = OnDemand(OnDevice(distance).on_host)
    threads = current_device().multiprocessors * limits.BLOCK_THREADS
    edges, in_phases = over["edges"].astype(np.int64), over["times"] / 1e9
    return Distances(found, int(over["high"]), edges, in_phases, seconds, copy_seconds, threads)


def _kind(graph: Graph) -> str:
    """Which of the `WIDTHS`."""
    if unevenness(graph) < UNEVEN:
        return "other"
    few = graph.m < FEW_EDGES * graph.n
    if mostly_near(graph) or (few and graph.m <= MANY_OF_FEW):
        return "long"
    return "large" if few or graph.m > MANY_EDGES else "other"


def _begin(graph: Graph, unit: float) -> np.ndarray:
    """``struct Control`` before the first step, which is a near one."""
    widths = (*WIDTHS[_kind(graph)], LATER_WIDTH)
    width, stretch, later = (min(NEVER, max(1, int(unit * each))) for each in widths)
    control = np.zeros(1, CONTROL)
    control["width"], control["window"], control["later"] = width, stretch, later
    control["high"], control["cut"] = width, max(width, stretch)
    control["least"] = control["next"] = NEVER
    control["near"], control["step"] = 1, _REST
    return control


def source() -> str:
    """The CUDA source."""
    return source_of(
        "shortest_paths", FARTHEST=FARTHEST, FULL=FULL[0], FULL_OF=FULL[1], FEW=FEW, VISIT=VISIT,
        INLINE=INLINE, PIECE=PIECE, BLOCK_THREADS=limits.BLOCK_THREADS,
    )  # fmt: skip
