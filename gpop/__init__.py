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

import sys

if "".join(sys.argv[:1]).rpartition("/")[2] in ("-m", __name__):  # -m until the module is found
    from gpop.common import starting

    if starting.is_command(__name__):
        starting.begin()  # before `typing`, which takes ten times as long as all this
        starting.nothing_after_the_end()

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names, for type checkers
    from gpop.apps.betweenness import betweenness as betweenness
    from gpop.apps.bfs import bfs as bfs
    from gpop.apps.cc import connected_components as connected_components
    from gpop.apps.closeness import closeness as closeness
    from gpop.apps.clustering import clustering as clustering
    from gpop.apps.coloring import coloring as coloring
    from gpop.apps.core_number import core_number as core_number
    from gpop.apps.heat_kernel import heat_kernel as heat_kernel
    from gpop.apps.hits import hits as hits
    from gpop.apps.independent_set import independent_set as independent_set
    from gpop.apps.katz import katz as katz
    from gpop.apps.label_propagation import label_propagation as label_propagation
    from gpop.apps.nibble import nibble as nibble
    from gpop.apps.pagerank import pagerank as pagerank
    from gpop.apps.pagerank_nibble import pagerank_nibble as pagerank_nibble
    from gpop.apps.personalized_pagerank import personalized_pagerank as personalized_pagerank
    from gpop.apps.run_report import report as report
    from gpop.apps.spanning_forest import spanning_forest as spanning_forest
    from gpop.apps.sssp import sssp as sssp
    from gpop.apps.strong_components import strong_components as strong_components
    from gpop.apps.triangles import triangle_count as triangle_count
    from gpop.common.errors import GpopError as GpopError
    from gpop.common.errors import GraphFileError as GraphFileError
    from gpop.common.errors import NotEnoughMemory as NotEnoughMemory
    from gpop.common.errors import ProgramError as ProgramError
    from gpop.common.errors import UsageError as UsageError
    from gpop.execution.checkpoint import Checkpoint as Checkpoint
    from gpop.execution.finished import Run as Run
    from gpop.execution.run import run as run
    from gpop.graph.graph import Graph as Graph
    from gpop.interop.read_edges import read_edges as read_edges
    from gpop.io import load as load
    from gpop.io import save as save
    from gpop.plan.trace import Trace as Trace
    from gpop.program.fields import HARMLESS as HARMLESS
    from gpop.program.fields import Parameter as Parameter
    from gpop.program.fields import VertexField as VertexField
    from gpop.program.program import Program as Program
    from gpop.ranks.generate import generate_part as generate_part
    from gpop.ranks.load import load_part as load_part

__version__ = "0.1.0"

_HOMES = {
    "Graph": "gpop.graph.graph",
    "load": "gpop.io",
    "load_part": "gpop.ranks.load",
    "generate_part": "gpop.ranks.generate",
    "save": "gpop.io",
    "read_edges": "gpop.interop.read_edges",
    "Program": "gpop.program.program",
    "VertexField": "gpop.program.fields",
    "Parameter": "gpop.program.fields",
    "HARMLESS": "gpop.program.fields",
    "run": "gpop.execution.run",
    "Run": "gpop.execution.finished",
    "Trace": "gpop.plan.trace",
    "Checkpoint": "gpop.execution.checkpoint",
    "GpopError": "gpop.common.errors",
    "GraphFileError": "gpop.common.errors",
    "UsageError": "gpop.common.errors",
    "ProgramError": "gpop.common.errors",
    "NotEnoughMemory": "gpop.common.errors",
    "report": "gpop.apps.run_report",
    "betweenness": "gpop.apps.betweenness",
    "closeness": "gpop.apps.closeness",
    "core_number": "gpop.apps.core_number",
    "strong_components": "gpop.apps.strong_components",
    "personalized_pagerank": "gpop.apps.personalized_pagerank",
    "katz": "gpop.apps.katz",
    "hits": "gpop.apps.hits",
    "bfs": "gpop.apps.bfs",
    "pagerank": "gpop.apps.pagerank",
    "sssp": "gpop.apps.sssp",
    "connected_components": "gpop.apps.cc",
    "triangle_count": "gpop.apps.triangles",
    "clustering": "gpop.apps.clustering",
    "label_propagation": "gpop.apps.label_propagation",
    "independent_set": "gpop.apps.independent_set",
    "coloring": "gpop.apps.coloring",
    "spanning_forest": "gpop.apps.spanning_forest",
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
