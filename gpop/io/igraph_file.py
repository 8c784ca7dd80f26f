"""GraphML and GML read by igraph, where NetworkX is not installed.

igraph holds all numbers as floating-point: weights that are all whole become integers. Text that is not
UTF-8 is refused before, because igraph (1.0) ends the process on some.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.graph.graph import Graph
from gpop.interop.networkx_graph import name_array, smallest
from gpop.io.fields import written_integers


def read_igraph(igraph: ModuleType, path: Path, weighted: bool) -> Graph:
    """The graph in a ``.graphml`` or ``.gml`` file, read by the given module; names become original ids."""
    text = path.read_bytes()
    text.decode()
    if b"\0" in text:
        raise GraphFileError(f"{path}: byte {text.index(0)} is 0, expected text")
    gml = path.suffix.lower() == ".gml"
    with warnings.catch_warnings(action="ignore"):  # of attributes that are not used here
        found = igraph.Graph.Read_GML(str(path)) if gml else igraph.Graph.Read_GraphML(str(path))
    ends = np.array(found.get_edgelist(), np.int64).reshape(-1, 2)
    weights = None
    if weighted and "weight" in found.es.attributes():
        weights = np.array(found.es["weight"], np.float64)
        weights[np.isnan(weights)] = 1  # edges without one
        if (np.abs(weights) < 2**53).all() and (weights == np.floor(weights)).all():
            weights = smallest(weights.astype(np.int64))
    if not found.is_directed():
        other = ends[:, 0] != ends[:, 1]
        weights = None if weights is None else np.append(weights, weights[other])
        ends = np.append(ends, ends[other, ::-1], axis=0)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], weights, found.vcount())
    names = _names(found, gml)
    if names != list(range(graph.n)):
        graph.original_ids = name_array(names)
    return graph


def _names(found: Any, gml: bool) -> list:
    """Labels of GML, else ids; numbers when all are integers that differ."""
    for attribute in ("label", "id") if gml else ("id",):
        names = found.vs[attribute] if attribute in found.vs.attributes() else [""]
        if all(name not in ("", None) for name in names):
            break
    else:
        return list(range(found.vcount()))
    names = [str(int(name)) if isinstance(name, float) else name for name in names]
    if len(set(names)) < len(names):
        raise ValueError("two nodes have the same name, expected different ones")
    numbers = written_integers(names)
    return names if numbers is None else numbers
