"""Connected components: every vertex gets the smallest vertex index of its component.

Two algorithms with the same result. *labels*: propagation of the minimum (GPOP), by default with
interleaved scatter and gather. *afforest*: linking of sampled edges, see `gpop.direct.afforest` and
`gpop.gpu.direct.components`; no messages and no bins, about one pass over the vertices where labels makes
several over the edges.
Unusual: components are the weak ones. For labels a directed graph is made symmetric first, and the
symmetric graph and its bins are kept with the given graph for the next call; afforest takes each edge both
ways as it is. The result says so in either case (``symmetrized``).
Encoding: labels are uint32 vertex indices; a vertex whose label is itself represents its component.
Paper: Lakhotia et al., "GPOP", which does not say what happens to directed graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.cc_afforest import Grow, Links, OnDevice, grow_on_ranks
from gpop.apps.inputs import symmetric
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.without_messages import are_for_messages, asked_of_messages
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.execution.options import LimitedOptions
from gpop.ranks.world import world_of

METHODS = ("auto", "labels", "afforest")


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

    label: np.ndarray = holds(Holds.COMPONENTS)
    count: int = holds(Holds.NO_VERTICES)
    symmetrized: bool = holds(Holds.NO_VERTICES)


@resolving()
def connected_components(
    graph: gpop.Graph,
    method: str = "auto",
    *,
    interleave: bool | None = None,
    **options: Unpack[LimitedOptions],
) -> Way[ComponentsResult]:
    """Weakly connected components.

    Parameters
    ----------
    graph : Graph
        Edges of a directed one are taken both ways.
    method : "auto", "labels" or "afforest"
        Auto is afforest, unless an option speaks of messages or iterations, which only labels has, or the
        graph does not fit the GPU it is to run on. The choice and its reason are in ``trace.summary``.
    interleave : bool, optional
        Gather what has arrived before scattering (labels): fewer iterations, same labels; by default True.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : LimitedOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback, iterations``: see
        `gpop.run`.

    Returns
    -------
    ComponentsResult
        ``label``, uint32 [n]: the smallest vertex of the component; ``count`` of components;
        ``symmetrized``: whether some edge had no opposite.

    Raises
    ------
    UsageError
        For an unknown method, an option of messages with ``method="afforest"``, or one that does not fit.

    Examples
    --------
    >>> found = gpop.connected_components(gpop.Graph.from_edges([1, 4], [0, 3], n=5))
    >>> found.label, found.count, found.symmetrized
    (array([0, 0, 2, 3, 3], dtype=uint32), 3, True)
    """
    if method not in METHODS:
        raise UsageError(f"method {method!r}: expected one of {', '.join(METHODS)}")
    on_gpu = options.get("target") == "gpu"
    of_messages = asked_of_messages({"interleave": interleave, **options}, "gpu")
    if on_gpu and options.get("partition_size") is not None:  # there afforest has no partitions
        of_messages.append("partition_size")
    if method == "afforest" and of_messages:
        raise UsageError(f"{of_messages[0]} means nothing to afforest: it sends no messages")
    if method == "labels" or of_messages:
        reason = "as asked" if method == "labels" else are_for_messages(of_messages)
        return partial(_by_labels, interleave is not False, reason, options)
    if on_gpu:
        return partial(_on_device, OnDevice(graph, method, options), method, options)
    world = world_of(options.get("transport", "auto"))
    if world is not None and graph.n:
        return partial(_result, partial(grow_on_ranks, method, world, options))
    return partial(_result, Links(graph, method, options).grow)


def _by_labels(interleave: bool, reason: str, options: dict, graph: gpop.Graph) -> ComponentsResult:
    both_ways = symmetric(graph)
    program = ConnectedComponents(both_ways)
    vertices = np.arange(graph.n, dtype=np.uint32)
    program.label = vertices
    run = gpop.run(program, interleave=interleave, **options)
    run.trace.summary.update(method="labels", reason=reason)
    count = int(np.count_nonzero(program.label == vertices))
    return ComponentsResult(label=program.label, count=count, symmetrized=both_ways is not graph, run=run)


def _on_device(device: OnDevice, method: str, options: dict[str, Any], graph: gpop.Graph) -> ComponentsResult:
    """By afforest on a GPU; by labels where it has no room and was not asked for."""
    try:
        return _result(device.grow, graph)
    except NotEnoughMemory as error:
        if method == "afforest":
            raise
        return _by_labels(True, f"afforest does not fit the device: {error}", options, graph)


def _result(grow: Grow, graph: gpop.Graph) -> ComponentsResult:
    waiting, told = grow(graph)
    return ComponentsResult._made(waiting, **told)


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
        said = result.trace.summary
        return (
            f"{result.count:,} components, the largest with {report.share(largest, graph.n)}{note}\n"
            f"method      {said['method']}: {said['reason']}"
        )

    def arguments(parser: Any) -> None:
        parser.add_argument("--method", choices=METHODS, default="auto", help="how components are found")

    return cli.main(
        argv,
        cli.App(
            name="cc",
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.connected_components(graph, given.method, **options),
            headline=headline,
            columns=lambda graph, result: {"label": report.ids(graph, result.label)},
            edges=lambda graph, result: graph.m,  # each once, however often it was followed
            verify=lambda graph, result, given: verify(graph, result),
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
