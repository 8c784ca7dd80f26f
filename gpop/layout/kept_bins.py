"""Bins kept with a graph: built once, or mapped from a file that an earlier process has left.

``graph.facts.layout_directory``, or the environment variable GPOP_LAYOUTS, names a directory for such
files (`gpop.layout.bins_file`).
"""

from __future__ import annotations

import os
import time

from gpop.common.progress import activity
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.graph.kept_bytes import Bytes
from gpop.layout.bins import Bins, build_bins
from gpop.layout.bins_file import layout_of
from gpop.layout.partition import partitions


def bins_of(graph: Graph, bits: int, threads: int) -> tuple[Bins, float]:
    """The layout kept with the graph, and the seconds that building or opening it took (0 if kept).

    On first use it is built, or opened from a file when there is a directory for layouts
    (`gpop.layout.bins_file`).
    """
    kept = graph.store.get(Kind.BINS, bits)
    if kept is not None:
        return kept, 0.0
    mapped = graph.facts.mapped
    if mapped is not None and mapped.bits == bits:
        return graph.store.put(Kind.BINS, mapped.bins, bits, about="on disk", holds=Bytes(0)), 0.0
    start = time.perf_counter()
    directory = graph.facts.layout_directory or os.environ.get("GPOP_LAYOUTS")
    with activity("building bins"):
        bins = layout_of(graph, bits, threads, directory) if directory else build_bins(graph, bits, threads)
    graph.store.put(Kind.BINS, bins, bits, about=partitions(bits))
    return bins, time.perf_counter() - start
