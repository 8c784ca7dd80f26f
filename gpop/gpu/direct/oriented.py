"""Oriented lists on a GPU, for triangles and clustering: of every edge the end that has more neighbours.

Each chunk of the graph counts what it keeps, these counts are added up, then it writes behind what the chunks
before it have (kernels/direct/oriented.cuh). No vertex is renumbered, so nothing is sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.gpu.device import cupy
from gpop.gpu.direct.phases import Chunks, DeviceLists, Phases


class Oriented(NamedTuple):
    """Upper neighbours of every vertex, ascending, and an array of a word a vertex that is free again."""

    upward: DeviceLists
    spare: np.ndarray


def orient(phases: Phases, lists: DeviceLists, chunks: Chunks, claimed: np.ndarray) -> Oriented:
    """Orient a symmetric graph with ascending lists; ``claimed``: two words that are 0."""
    n = len(lists.indptr) - 1
    degree, kept = cupy().zeros(n, np.uint32), cupy().zeros(int(chunks.count) + 1, np.int64)
    common = (lists.argument, *chunks, degree)
    phases.launch("degrees", lists.argument, degree)
    phases.launch("count_upward", *common, claimed, kept)
    kept = cupy().cumsum(kept)
    upward = DeviceLists(cupy().zeros(n + 1, np.int64), cupy().zeros(int(kept[-1]), np.uint32))
    phases.launch("write_upward", *common, claimed[1:], kept, upward.indptr, upward.indices)
    return Oriented(upward, degree)


def oriented_bytes(n: int, m: int, chunks: Chunks) -> int:
    """Most that they take on the device, with what is counted on the way."""
    return 4 * (m // 2) + 12 * n + 16 * int(chunks.count)
