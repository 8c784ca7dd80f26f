"""Tables beside a graph on a device that say who does what there, made of the arrays of the host.

- *segments*: about ``SEGMENT_IDS`` consecutive ids of one bin, cut where a message begins, so that a
  warp can start anywhere in a column (32 bytes each);
- *hubs*: vertices with many in-edges, which want other care than the rest (kernels/owner.cuh).
"""

from __future__ import annotations

import numpy as np

from gpop.layout.bins import Bins

SEGMENT_IDS = 2016
"""A little less than whole windows of a warp (strip.cuh): a segment begins amid what a lane takes, and ends
where a message does. On an H100 PageRank on RMAT 22 took 1.02 of the time with 2,048, 1.09 with
1,000 and 1.03 with 4,064."""

SEGMENT = np.dtype(
    [("first", "i8"), ("slot", "i8"), ("count", "i4"), ("runs", "i4"), ("source", "i4"), ("pad", "i4")]
)

NO_HUB = 2**32 - 1
"""In ``hub_of``: the vertex is none."""


def cut_bins(bins: Bins) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where segments begin at first: (position, bin as ``d * k + p``, first segment of that bin) of each.

    Examples
    --------
    >>> import gpop
    >>> from gpop.layout.bins import build_bins
    >>> bins = build_bins(gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4), bits=1, threads=1)
    >>> [array.tolist() for array in cut_bins(bins)]
    [[0, 1, 2], [0, 2, 3], [0, 1, 2]]
    """
    counts = np.diff(bins.id_offsets)
    filled = np.flatnonzero(counts)
    cuts = -(-counts[filled] // SEGMENT_IDS)
    column = np.repeat(filled, cuts)
    bin_start = np.repeat(np.cumsum(cuts) - cuts, cuts)
    return bins.id_offsets[column] + (np.arange(len(column)) - bin_start) * SEGMENT_IDS, column, bin_start


def most_segments(bins: Bins) -> int:
    """So many segments there are at most, without a look at each bin."""
    return bins.ids.size // SEGMENT_IDS + int(bins.column_offsets[-1])


def hub_tables(in_degree: np.ndarray, least: int) -> dict[str, np.ndarray]:
    """Vertices with more than ``least`` in-edges, most first, where their queues begin, and who is which.

    Examples
    --------
    >>> {name: table.tolist() for name, table in hub_tables(np.array([3, 0, 5, 1]), 2).items()}
    {'hub_vertex': [2, 0], 'hub_first': [0, 5, 8], 'hub_of': [1, 4294967295, 0, 4294967295]}
    """
    vertices = np.flatnonzero(in_degree > least)
    edges = in_degree[vertices].astype(np.int64)
    order = np.argsort(-edges, kind="stable")
    place = np.full(len(in_degree) if len(vertices) else 0, NO_HUB, np.uint32)
    place[vertices[order]] = np.arange(len(vertices))
    first = np.append(0, np.cumsum(edges[order]))
    return {"hub_vertex": vertices[order].astype(np.uint32), "hub_first": first, "hub_of": place}


def messages_by_source(bins: Bins, turned: bool) -> np.ndarray:
    """Messages of each partition when it sends to all: its row, or its column where the graph is turned."""
    counts = np.diff(bins.slots).reshape(int(bins.k), int(bins.k))
    return counts.sum(axis=0 if turned else 1)
