"""The entry point ``networkx.backends``: this module has an attribute for every function that is dispatched.

NetworkX asks `can_run` before it converts anything, `should_run` where the user has named no backend,
converts with `convert_from_nx` (and keeps the result with the graph until it changes), and calls the
function.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import networkx as nx

from gpop.common.errors import UsageError
from gpop.networkx.converted import Converted
from gpop.networkx.functions import HOMES, LOCAL

LEAST_VERSION = (3, 6)
"""The first version of NetworkX whose semantics these are."""

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)

WORTH = 1 << 15
"""Nodes and edges from which the first call pays, conversion included (``python -m perf networkx``)."""


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'gpop.networkx.backend' has no attribute {name!r}")
    globals()[name] = function = getattr(import_module(f"gpop.networkx.{HOMES[name]}"), name)
    return function


def can_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool | str:
    """True, or why not: what a function says about its arguments (`gpop.networkx.refusing`).

    Examples
    --------
    >>> graph = nx.path_graph(3)
    >>> can_run("bfs_edges", (graph, 0), {}), can_run("bfs_edges", (graph, 0), {"sort_neighbors": sorted})
    (True, 'sort_neighbors is a function of nodes')
    """
    version = tuple(map(int, nx.__version__.split(".")[:2]))
    if version < LEAST_VERSION:
        return f"gpop does what NetworkX {LEAST_VERSION[0]}.{LEAST_VERSION[1]} does, this is {nx.__version__}"
    function = __getattr__(name)
    refuses = getattr(function, "refuses", None)
    if refuses is None:
        return True
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:  # NetworkX's own words when it is called
        return True
    bound.apply_defaults()
    return refuses(**{name: bound.arguments[name] for name in inspect.signature(refuses).parameters}) or True


def should_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool | str:
    """True, or why NetworkX itself is quicker with a graph that is not converted yet.

    Examples
    --------
    >>> should_run("pagerank", (nx.path_graph(3),), {})
    'the graph has 3 nodes and 2 edges: NetworkX is quicker below 32768'
    """
    graph = args[0] if args else kwargs.get("G")
    if isinstance(graph, Converted) or "gpop" in (graph.__networkx_cache__ or {}).get("backends", ()):
        return True
    if name in LOCAL:
        return "the search may end near its start, and a conversion reads the whole graph"
    n, m = graph.number_of_nodes(), graph.number_of_edges()
    if n + m < WORTH:
        return f"the graph has {n} nodes and {m} edges: NetworkX is quicker below {WORTH}"
    return True


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Converted:
    """The graph as gpop's functions take it, with the attributes of edges that are asked for.

    Examples
    --------
    >>> len(convert_from_nx(nx.path_graph(3), edge_attrs={"weight": 1}))
    3
    """
    for access in ("__getitem__", "__iter__", "adjacency", "neighbors"):
        if all(getattr(type(graph), access) is not getattr(kind, access) for kind in KINDS):
            raise NotImplementedError(f"gpop: a {type(graph).__name__} has an {access} of its own")
    if preserve_edge_attrs:
        raise NotImplementedError("gpop takes attributes of edges by name, not all that there are")
    try:
        return Converted(graph, edge_attrs or {})
    except UsageError as error:
        raise NotImplementedError(f"gpop: {error}") from None


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """The NetworkX graph that was converted; any other result as it is.

    Examples
    --------
    >>> graph = nx.path_graph(3)
    >>> convert_to_nx(convert_from_nx(graph)) is graph, convert_to_nx({0: 1})
    (True, {0: 1})
    """
    return result.original() if isinstance(result, Converted) else result


def on_start_tests(items: list[Any]) -> None:
    """NetworkX hands over its own tests before it runs them: one asks for the set that Python's sets lead to.

    Examples
    --------
    >>> on_start_tests([])
    """
    import pytest

    for item in items:
        if item.nodeid.endswith("tests/test_mis.py::test_random_seed"):
            reason = "a maximal independent set for a seed is another one than NetworkX's"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
