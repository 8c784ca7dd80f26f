"""What was given where a Graph is expected: refused in one line that says how to make one of it."""

from __future__ import annotations

import os
from typing import Any

from gpop.common.arguments import kind_of
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph


def expect_graph(graph: Any, what: str) -> None:
    """UsageError, with the way to a Graph, when ``graph`` is another library's (or a path)."""
    if isinstance(graph, Graph):
        return
    library = type(graph).__module__.partition(".")[0]
    ways = {
        "Graph.from_networkx(graph)": hasattr(graph, "nodes") and hasattr(graph, "is_directed"),
        "Graph.from_scipy(matrix)": hasattr(graph, "tocsr"),
        "Graph.from_pandas(frame)": library == "pandas" and hasattr(graph, "columns"),
        "Graph.from_arrow(table)": hasattr(graph, "__arrow_c_stream__"),
        "gpop.load(path)": isinstance(graph, str | os.PathLike),
    }
    way = next((way for way, fits in ways.items() if fits), "a Graph.from_ method or gpop.load")
    raise UsageError(f"{what}: expected a gpop.Graph, got {kind_of(graph)}: make one with {way}")
