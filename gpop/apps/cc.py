"""Connected components: every vertex gets the smallest vertex index of its component.

Algorithm: label propagation by minimum (GPOP; G-94), by default with interleaved scatter and gather.
Unusual: components are the weak ones. A directed graph is made symmetric first, which the result says
(``symmetrized``); the symmetric graph and its bins are kept with the given graph for the next call.
Encoding: labels are uint32 vertex indices; a vertex whose label is itself represents its component.
Paper: doc 001 (GPOP), which does not say what happens to directed graphs (Z-10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.result import AppResult


class ConnectedComponents(gpop.Program):
    """Smallest label of a neighbourhood, until nothing changes."""

    label = gpop.VertexField(np.uint32)
    inactive_message = gpop.HARMLESS
    combine = "min"

    def scatterFunc(self, node):
        return self.label[node]

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value
            return True
        return False


@dataclass(frozen=True, kw_only=True)
class ComponentsResult(AppResult):
    """``label`` of every vertex, ``count`` of components, and whether the graph was ``symmetrized``."""

    label: np.ndarray
    count: int
    symmetrized: bool


def connected_components(graph: gpop.Graph, *, interleave: bool = True, **options: Any) -> ComponentsResult:
    """Weakly connected components.

    Parameters
    ----------
    graph : Graph
        A directed one is made symmetric first.
    interleave : bool
        Gather what has arrived before scattering: fewer iterations, same labels.
    **options
        ``threads, mode, ratio, partition_size, target, progress, callback, iterations``: see `gpop.run`.

    Examples
    --------
    >>> found = gpop.connected_components(gpop.Graph.from_edges([1, 4], [0, 3], n=5))
    >>> found.label, found.count, found.symmetrized
    (array([0, 0, 2, 3, 3], dtype=uint32), 3, True)
    """
    both_ways = _symmetric(graph)
    program = ConnectedComponents(both_ways)
    vertices = np.arange(graph.n, dtype=np.uint32)
    program.label = vertices
    run = gpop.run(program, interleave=interleave, **options)
    count = int(np.count_nonzero(program.label == vertices))
    return ComponentsResult(label=program.label, count=count, symmetrized=both_ways is not graph, run=run)


def _symmetric(graph: gpop.Graph) -> gpop.Graph:
    """The graph itself if every edge has its opposite, else its symmetric copy; kept with the graph."""
    if graph.is_symmetric():
        return graph
    if "symmetric" not in graph.cache:
        graph.cache["symmetric"] = graph.symmetrize()
    return graph.cache["symmetric"]


def verify(graph: gpop.Graph, result: ComponentsResult) -> str | None:
    """None, or what is wrong: SciPy's traversal of the undirected graph."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components as traverse

    edges = (np.ones(graph.m, np.int8), graph.indices.astype(np.int64), graph.indptr)
    count, component = traverse(csr_array(edges, shape=(graph.n, graph.n)), directed=True, connection="weak")
    if count != result.count:
        return f"{result.count} components, but SciPy finds {count}"
    smallest = np.unique(component, return_index=True)[1]
    wrong = np.count_nonzero(smallest[component] != result.label)
    return f"{wrong} labels are not the smallest vertex of their component" if wrong else None


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.cc graph ...``"""

    def headline(graph: gpop.Graph, result: ComponentsResult, given: Any) -> str:
        largest = int(np.bincount(result.label).max()) if graph.n else 0
        note = "\nnote: the graph is directed; its edges were taken both ways" if result.symmetrized else ""
        return f"{result.count:,} components, the largest with {report.share(largest, graph.n)}{note}"

    return cli.main(
        argv,
        cli.App(
            name="cc",
            about=__doc__,
            solve=lambda graph, given, options: gpop.connected_components(graph, **options),
            headline=headline,
            columns=lambda graph, result: {"label": report.ids(graph, result.label)},
            edges=lambda graph, result: graph.m,  # each once, however often it was followed
            verify=lambda graph, result, given: verify(graph, result),
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
