"""GraphML (``.graphml``) and GML (``.gml``), read and written by NetworkX: for small graphs.

Where NetworkX is not installed, but igraph is, igraph reads them.

Node names become original ids: numbers when all are integers, the number 0..n-1 being no renaming.
The edge attribute ``weight`` is the weight; undirected graphs get both directions.
"""

from __future__ import annotations

import importlib
import re
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.memory import require_memory
from gpop.common.replacing import replacing
from gpop.graph.graph import Graph
from gpop.io.fields import LONG_INTEGER, written_integers
from gpop.io.ids import distinct
from gpop.io.igraph_file import read_igraph
from gpop.io.libraries import demand_weights, reading

HOLDS_IDS = True

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BYTES = 8  # that NetworkX takes at least for a byte of the file


def _library(names: tuple[str, ...]) -> ModuleType:
    """The first of these modules that is installed."""
    for name in names:
        with suppress(ImportError):
            return importlib.import_module(name)
    raise UsageError(f"GraphML and GML need the package {' or '.join(names)}: pip install networkx")


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read a GraphML or GML file; ``weighted=False`` ignores its weights, ``True`` demands them."""
    library = _library(("networkx", "igraph"))
    read_it = read_igraph if library.__name__ == "igraph" else _read_networkx
    require_memory(_BYTES * path.stat().st_size, f"{path}: its nodes and edges")
    with reading(path, "a GML file" if path.suffix.lower() == ".gml" else "a GraphML file"):
        graph = read_it(library, path, weighted is not False)
        demand_weights(path, graph.weights is not None, weighted)
    return graph


def _read_networkx(nx: ModuleType, path: Path, weighted: bool) -> Graph:
    gml = path.suffix.lower() == ".gml"
    try:
        found = nx.read_gml(path) if gml else nx.read_graphml(path)
    except nx.NetworkXError:
        if not gml:
            raise
        found = nx.read_gml(path, label="id")  # nodes without labels
    names = list(found)
    numbers = written_integers(names) if names and all(isinstance(name, str) for name in names) else None
    if numbers is not None:
        found = nx.relabel_nodes(found, dict(zip(names, numbers, strict=True)))
    if gml and weighted:
        _read_long_integers(found)
    return Graph.from_networkx(found, weight="weight" if weighted else None)


def _read_long_integers(found: Any) -> None:
    """Whole numbers of more than 32 bits, which NetworkX writes as text into GML, become numbers again."""
    for *_, data in found.edges(data=True):
        weight = data.get("weight")
        if isinstance(weight, str) and re.fullmatch(LONG_INTEGER, weight):
            data["weight"] = int(weight)


def write(graph: Graph, path: Path) -> None:
    """Write a GraphML or GML file."""
    nx = _library(("networkx",))
    names = distinct(graph, path)
    gml = path.suffix.lower() == ".gml"
    for text in [graph.name, *(names.tolist() if names is not None and names.dtype.kind == "U" else [])]:
        if not gml and _NO_XML.search(text):
            raise UsageError(f"{path}: {text!r} cannot be written, expected characters that XML has")
    if (
        graph.weights is not None
        and graph.weights.dtype == np.uint64
        and graph.weights.max(initial=0) >= 2**63
    ):
        raise UsageError(f"{path}: a weight is {graph.weights.max()}, expected integers below 2^63")
    arrays = graph.indptr, graph.indices, graph.weights
    found = Graph(*arrays, original_ids=names, name=graph.name).to_networkx()
    with replacing(path) as temporary:
        if gml:
            nx.write_gml(found, temporary)
        else:
            nx.write_graphml(found, temporary)
