"""gpop: graph processing over partitions.

Write four small functions about one vertex (`gpop.Program`); `gpop.run` runs them on all cores over
cache-sized partitions. `gpop.bfs` and others are such programs, ready to be called:

>>> import gpop
>>> graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])  # or gpop.load(path)
>>> gpop.bfs(graph, source=0).level
array([0, 1, 2], dtype=int32)

Names are resolved when they are first used, so ``import gpop`` loads neither Numba nor a compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Graph": "gpop.graph.graph",
    "load": "gpop.io",
    "save": "gpop.io",
    "Program": "gpop.program.program",
    "VertexField": "gpop.program.program",
    "Parameter": "gpop.program.program",
    "HARMLESS": "gpop.program.program",
    "run": "gpop.execution.run",
    "Run": "gpop.execution.run",
    "Trace": "gpop.plan.trace",
    "GpopError": "gpop.common.errors",
    "GraphFileError": "gpop.common.errors",
    "UsageError": "gpop.common.errors",
    "ProgramError": "gpop.common.errors",
    "NotEnoughMemory": "gpop.common.errors",
    "bfs": "gpop.apps.bfs",
    "pagerank": "gpop.apps.pagerank",
    "sssp": "gpop.apps.sssp",
    "connected_components": "gpop.apps.cc",
    "triangle_count": "gpop.apps.triangles",
    "nibble": "gpop.apps.nibble",
    "heat_kernel": "gpop.apps.heat_kernel",
    "pagerank_nibble": "gpop.apps.pagerank_nibble",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gpop' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
