"""Which vertex lives in which partition (GPOP section 3.1).

Index partitioning: partition ``p`` owns vertices ``[p*q, (p+1)*q)``. ``q`` is a power of two, so
``partition(v) = v >> bits``; the last partition may be shorter. The paper takes the smallest number of
partitions ``k = ceil(n/q)`` that satisfies

1. the vertex data of a partition fits the largest private cache: ``q * vertex_bytes <= L2``;
2. load balance: ``k >= 4 * threads`` (fewer on small graphs: `gpop.cpu.layouts.FEW_PARTITIONS`).

Local ids of 15 bits leave room for the message flag in a uint16, which halves the bytes of ids and
sources, and caches have outgrown that size. So ``q`` is the largest power of two within both rules and

3. ids fit 16 bits: ``q <= 2**15``; a larger ``q`` within rule 1 is taken only when the ``k*k`` bins
   would otherwise need more bytes for their offsets (16 each) than the ids themselves.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np

from gpop.common.arguments import as_count
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph

SMALL_ID_BITS = 15
"""Up to this many local bits an id and its message flag fit 16 bits."""

SMALL_EDGES = 1 << 19
"""Most edges, and vertices, of a graph of which a search is over before threads would pay."""

SAMPLES = 4096
"""Edges that an estimate looks at: a share of nine tenths is known to half a hundredth."""

MOST_NEAR, PARTS_BITS = 0.5, 6
"""Share of the edges that stay in one of 64 parts of the ids; where more do, neighbours are near each
other."""

_DEFAULT_L2_BYTES = 1 << 20
_SMALL_OFFSETS = 1 << 20  # bytes of bin offsets that need no second thought
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


@lru_cache(maxsize=1)
def l2_cache_bytes() -> int:
    """Size in bytes of one core's L2 cache; 1 MiB where the system does not tell.

    Examples
    --------
    >>> l2_cache_bytes() >= 1 << 16
    True
    """
    if sys.platform == "darwin":
        text = subprocess.run(["sysctl", "-n", "hw.l2cachesize"], capture_output=True, text=True).stdout
        return int(text) if text.strip().isdigit() else _DEFAULT_L2_BYTES
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind = (index / "level").read_text().strip(), (index / "type").read_text().strip()
            size = re.fullmatch(r"(\d+)([KM]?)", (index / "size").read_text().strip())
        except OSError:
            continue
        if level == "2" and kind in ("Unified", "Data") and size:
            return int(size[1]) * _UNITS[size[2]]
    return _DEFAULT_L2_BYTES


def partition_bits(
    n: int,
    threads: int,
    *,
    edges: int = 0,
    vertex_bytes: int = 4,
    cache_bytes: int | None = None,
    partition_size: int | None = None,
    least: int | None = None,
) -> int:
    """Number of low bits of a vertex id that are local to its partition: ``q = 2**bits``.

    Parameters
    ----------
    n : int
        Number of vertices.
    threads : int
        Number of threads that will share the partitions (rule 2).
    edges : int
        Number of edges (rule 3).
    vertex_bytes : int
        Bytes of vertex data per vertex (rule 1).
    cache_bytes : int, optional
        Private cache of a core in bytes; read from the machine when not given.
    partition_size : int, optional
        Vertices per partition chosen by the user, a power of two; replaces the rules.
    least : int, optional
        Fewest partitions, in place of rule 2.

    Raises
    ------
    UsageError
        If ``partition_size`` is not a power of two between 1 and 2**31.

    Examples
    --------
    >>> partition_bits(1 << 22, threads=2, cache_bytes=1 << 16)   # 16 Ki floats fill 64 KiB
    14
    >>> partition_bits(1 << 22, threads=2, edges=1 << 26, cache_bytes=1 << 20)   # ids of 16 bits
    15
    >>> partition_bits(100, threads=2)                            # k = 13 >= 8
    3
    """
    partition_size = as_count("partition size", partition_size)
    if partition_size is not None:
        if partition_size < 1 or partition_size & (partition_size - 1) or partition_size > 1 << 31:
            raise UsageError(f"partition size {partition_size}: expected a power of two from 1 to {1 << 31}")
        return partition_size.bit_length() - 1
    if cache_bytes is None:
        cache_bytes = l2_cache_bytes()
    cacheable = min(31, max(1, cache_bytes // vertex_bytes).bit_length() - 1)
    bits = min(cacheable, SMALL_ID_BITS)
    while bits < cacheable and 16 * partition_count(n, bits) ** 2 > max(2 * edges, _SMALL_OFFSETS):
        bits += 1
    least = 4 * threads if least is None else least
    while bits > 0 and partition_count(n, bits) < least:
        bits -= 1
    return bits


def partition_count(n: int, bits: int) -> int:
    """Number of partitions ``k`` of ``n`` vertices with ``2**bits`` vertices each.

    Examples
    --------
    >>> partition_count(9, 3)
    2
    """
    return (n + (1 << bits) - 1) >> bits


def partitions(bits: int) -> str:
    """What is said of something kept for this size of partitions.

    >>> partitions(3)
    'partitions of 8'
    """
    return f"partitions of {1 << bits}"


def share_inside(graph: Graph, bits: int) -> float:
    """Share of the edges that stay in the partition they come from, from a sample; kept with the graph.

    Examples
    --------
    >>> share_inside(Graph.from_edges([0, 1, 2, 3], [1, 0, 3, 0]), bits=1)
    0.75
    """
    shares = graph.facts.share_inside
    if bits not in shares:
        edges = np.arange(0, graph.m, -(-graph.m // SAMPLES) or 1)
        tails = np.searchsorted(graph.indptr, edges, side="right") - 1
        inside = tails >> bits == graph.indices[edges] >> bits
        shares[bits] = float(inside.mean()) if graph.m else 1.0
    return shares[bits]


def mostly_near(graph: Graph) -> bool:
    """Whether neighbours are near each other, as on the web and in a mesh (`MOST_NEAR`).

    Examples
    --------
    >>> mostly_near(Graph.from_edges([0, 1, 2, 3], [1, 0, 3, 0]))
    False
    """
    return share_inside(graph, max(0, graph.n.bit_length() - PARTS_BITS)) > MOST_NEAR


def messages_per_edge(graph: Graph, bits: int) -> float:
    """Messages over edges, when every vertex sends, from a sample.

    An edge needs no message of its own where the one before it in its list goes to the same partition.

    Examples
    --------
    >>> messages_per_edge(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 0], n=4), bits=1)
    0.75
    """
    if not graph.m:
        return 0.0
    edges = np.arange(0, graph.m, -(-graph.m // SAMPLES))
    tails = np.searchsorted(graph.indptr, edges, side="right") - 1
    own = graph.indices[edges] >> bits != graph.indices[np.maximum(edges - 1, 0)] >> bits
    return float((own | (graph.indptr[tails] == edges)).mean())
