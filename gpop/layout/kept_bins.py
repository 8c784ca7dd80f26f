"""Bins kept with a graph: built once, or mapped from a file that an earlier process has left.

``graph.cache["layout_directory"]``, or the environment variable GPOP_LAYOUTS, names a directory for such
files (`gpop.layout.bins_file`).
"""

from __future__ import annotations

import os
import time

from gpop.graph.graph import Graph
from gpop.layout.bins import Bins, build_bins
from gpop.layout.bins_file import layout_of


def bins_of(graph: Graph, bits: int, threads: int) -> tuple[Bins, float]:
    """The layout kept with the graph, and the seconds that building or opening it took (0 if kept).

    On first use it is built, or opened from a file when there is a directory for layouts
    (`gpop.layout.bins_file`).
    """
    key = ("bins", bits)
    if key in graph.cache:
        return graph.cache[key], 0.0
    start = time.perf_counter()
    directory = graph.cache.get("layout_directory") or os.environ.get("GPOP_LAYOUTS")
    if directory:
        graph.cache[key] = layout_of(graph, bits, threads, directory)
    else:
        graph.cache[key] = build_bins(graph, bits, threads)
    return graph.cache[key], time.perf_counter() - start
