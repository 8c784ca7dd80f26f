"""Graphs to measure on: a file, or ``KIND:SIZE=VALUE,...`` for one that a generator makes.

``FILE,symmetrize`` has every edge in both directions, as ``KIND:...,symmetrize`` has: for a file that lists
each edge of an undirected graph once. ``GRAPH@ORDER`` has its vertices in an order of perf/orders.py.

Algorithms that need weights get random whole numbers from 1 to 255 where a graph has none, always the same.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

import gpop
from gpop.common.errors import UsageError
from gpop.generate.spec import generated, is_spec, options_of
from gpop.graph.transform import random_weights, relabel
from perf.orders import ORDERS, order_of

WEIGHTS = (1, 255)
BOTH_WAYS = ",symmetrize"
ORDERED = "@"


def order_in(spec: str) -> tuple[str, str | None]:
    """The spec without an order, and the order.

    >>> order_in("rmat:scale=10@in-degree"), order_in("a@b.txt")
    (('rmat:scale=10', 'in-degree'), ('a@b.txt', None))
    """
    base, _, order = spec.rpartition(ORDERED)
    return (base, order) if order in ORDERS else (spec, None)


def normal(spec: str) -> str:
    """The spec as it is kept: an absolute path, or a generator's spec as it is.

    >>> normal("rmat:scale=10,seed=3"), normal("rmat:scale=10@absolute")
    ('rmat:scale=10,seed=3', 'rmat:scale=10@absolute')
    """
    base, order = order_in(spec)
    if order is not None:
        return f"{normal(base)}{ORDERED}{order}"
    if is_spec(spec):
        options_of(spec)
        return spec
    path, both_ways = file_of(spec)
    if not path.is_file():
        raise UsageError(f"graph {spec}: no such file, nor a generator such as rmat:scale=16,degree=16")
    return str(path.resolve()) + BOTH_WAYS * both_ways


def file_of(spec: str) -> tuple[Path, bool]:
    """The file, and whether its edges are wanted in both directions.

    >>> file_of("road.txt,symmetrize")[1], file_of("road.txt")[1]
    (True, False)
    """
    return Path(spec.removesuffix(BOTH_WAYS)), spec.endswith(BOTH_WAYS)


def name_of(spec: str) -> str:
    """A short name: of the file without suffixes, or kind and sizes.

    >>> name_of("rmat:scale=10,seed=3"), name_of("data/road.bin"), name_of("road.bin,symmetrize")
    ('rmat-scale10-seed3', 'road', 'road-symmetrize')
    """
    base, order = order_in(spec)
    if order is not None:
        return f"{name_of(base)}{ORDERED}{order}"
    if is_spec(spec):
        kind, _, rest = spec.partition(":")
        return "-".join([kind, *rest.replace("=", "").split(",")]).rstrip("-")
    path, both_ways = file_of(spec)
    return path.name.split(".")[0] + BOTH_WAYS.replace(",", "-") * both_ways


def open_graph(spec: str) -> gpop.Graph:
    """Load or generate a graph."""
    base, order = order_in(spec)
    if order is not None:
        graph = open_graph(base)
        return relabel(graph, order_of(graph, order))
    if is_spec(spec):
        return generated(spec)
    path, both_ways = file_of(spec)
    return gpop.load(path, symmetrize=both_ways)


_with_weights: WeakKeyDictionary[gpop.Graph, gpop.Graph] = WeakKeyDictionary()


def with_weights(graph: gpop.Graph) -> gpop.Graph:
    """The graph itself, or one with the same edges and random weights that is kept with it."""
    if graph.weights is not None:
        return graph
    if graph not in _with_weights:
        _with_weights[graph] = random_weights(graph, *WEIGHTS, seed=1)
    return _with_weights[graph]


def vertex(graph: gpop.Graph, source: int | str) -> int:
    """The vertex index that a variant's ``source`` means: an index, ``max-degree``, or ``random-SEED``.

    The last is a vertex with out-edges, where there is one.

    >>> vertex(gpop.Graph.from_edges([0, 1, 1], [1, 0, 2]), "max-degree")
    1
    """
    if source == "max-degree":
        return int(np.argmax(graph.out_degree))
    if isinstance(source, str) and source.startswith("random-") and source[7:].isdecimal() and graph.n:
        senders = np.flatnonzero(graph.out_degree)
        choices = senders if senders.size else np.arange(graph.n)
        return int(np.random.default_rng(int(source[7:])).choice(choices))
    if not isinstance(source, int) or not 0 <= source < graph.n:
        raise UsageError(
            f"source {source!r}: expected max-degree, random-SEED or a vertex index below {graph.n}"
        )
    return source


def graph_digest(graph: gpop.Graph) -> str:
    """Hash of vertices, edges and weights: tells whether a file still holds the same graph."""
    digest = hashlib.sha256(f"{graph.n} {graph.m}".encode())
    for array in (graph.indptr, graph.indices, graph.weights):
        if array is not None:
            digest.update(array.dtype.str.encode())
            digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()[:32]
