"""GraphML (``.graphml``) and GML (``.gml``), read and written by NetworkX: for small graphs.

Node names become original ids: numbers when all are integers, the number 0..n-1 being no renaming.
The edge attribute ``weight`` is the weight; undirected graphs get both directions.
"""

from __future__ import annotations

from pathlib import Path

from gpop.errors import UsageError
from gpop.graph import Graph
from gpop.io.atomic import replacing
from gpop.io.libraries import demand_weights, reading
from gpop.io.named_edges import is_integer

HOLDS_IDS = True


def _networkx():
    try:
        import networkx
    except ImportError:
        raise UsageError("GraphML and GML need the package networkx: pip install networkx") from None
    return networkx


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a GraphML or GML file; ``weighted=False`` ignores its weights, ``True`` demands them."""
    nx = _networkx()
    gml = path.suffix.lower() == ".gml"
    with reading(path, "a GML file" if gml else "a GraphML file"):
        try:
            found = nx.read_gml(path) if gml else nx.read_graphml(path)
        except nx.NetworkXError:
            if not gml:
                raise
            found = nx.read_gml(path, label="id")  # nodes without labels
        names = list(found)
        if names and all(isinstance(name, str) and is_integer(name) for name in names):
            numbers = {name: int(name) for name in names}
            if len(set(numbers.values())) == len(names):
                found = nx.relabel_nodes(found, numbers)
        graph = Graph.from_networkx(found, weight=None if weighted is False else "weight")
        demand_weights(path, graph.weights is not None, weighted)
    return graph


def write(graph: Graph, path: Path) -> None:
    """Write a GraphML or GML file."""
    nx = _networkx()
    found = graph.to_networkx()
    names = graph.original_ids
    if names is not None and names.dtype == object:
        if not all(isinstance(name, str) for name in names):
            raise UsageError(f"{path}: original ids are not text, expected integers or text")
    with replacing(path) as temporary:
        if path.suffix.lower() == ".gml":
            nx.write_gml(found, temporary)
        else:
            nx.write_graphml(found, temporary)
