"""What ``--json`` of an app prints: the schema is gpop/schemas/app.json."""

from __future__ import annotations

import statistics
from typing import Any

import gpop
from gpop.apps.holds import Holds, held
from gpop.apps.tables import first_of_numbers, top

OF_RUN = (
    "iterations", "converged", "mode", "interleave", "threads", "target", "partition_size", "partitions"
)  # fmt: skip

MOST = 10
"""Vertices with the largest values."""


def graph_facts(graph: gpop.Graph) -> dict[str, Any]:
    """Name and sizes of a graph.

    Examples
    --------
    >>> graph_facts(gpop.Graph.from_edges([0], [1], name="pair"))
    {'name': 'pair', 'vertices': 2, 'edges': 1, 'weights': None, 'original_ids': False}
    """
    return {
        "name": graph.name,
        "vertices": graph.n,
        "edges": graph.m,
        "weights": None if graph.weights is None else str(graph.weights.dtype),
        "original_ids": graph.original_ids is not None,
    }


def told(graph: gpop.Graph, result: Any, seconds: dict[str, Any], edges: int) -> dict[str, Any]:
    """Graph, answer, run and times of a result; ``seconds`` has those of every round."""
    run, median = result.run, statistics.median(seconds["rounds"])
    answer: dict[str, Any] = {}
    for name, what in held(result).items():
        if what is Holds.NO_VERTICES:
            answer[name] = getattr(result, name)
        elif what is Holds.VERTEX:
            answer[name] = result.name_of(getattr(result, name))
    by = first_of_numbers(result)
    largest = None
    if by is not None:
        found = top(result, MOST, by)
        largest = {"by": by, "rows": list(found)}
    return {
        "graph": graph_facts(graph),
        "answer": answer,
        "top": largest,
        "run": {name: getattr(run, name) for name in OF_RUN}
        | {"summary": run.trace.summary, "bytes": int(run.trace.column("bytes").sum())},
        "seconds": {**seconds, "median": median},
        "edges": edges,
        "edges_per_second": edges / median if median > 0 else None,
    }
