"""The apps that send messages, each run in the same way: what is compared, timed and profiled in all modes.

An app is called with a graph, a source (which some have no use for) and options of `gpop.run`; its answer is
one array. A program of one's own becomes one of them (`app_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.execution.given import run_program, uses_weights
from gpop.graph.graph import Graph


class App(NamedTuple):
    """How an app is run here, and the array its results are compared by."""

    solve: Callable[[Graph, int, dict[str, Any]], Any]
    answer: Callable[[Graph, Any], np.ndarray]
    weighted: bool = False


def _probability(graph: Graph, result: Any) -> np.ndarray:
    values = np.zeros(graph.n, np.float32)
    values[result.vertices] = result.values
    return values


def _members(graph: Graph, result: Any) -> np.ndarray:
    inside = np.zeros(graph.n, np.bool_)
    inside[result.vertices] = True
    return inside


def _ten(options: dict[str, Any]) -> dict[str, Any]:
    """Of an app that would iterate until little changes: as often as is asked for, or ten times."""
    return {"iterations": 10, **options}


def _terms(options: dict[str, Any]) -> dict[str, Any]:
    """Of heat_kernel, whose number of iterations is that of the terms of a series."""
    rest = {name: value for name, value in options.items() if name != "iterations"}
    return rest | ({"levels": options["iterations"]} if "iterations" in options else {})


APPS = {
    "bfs": App(
        lambda graph, source, options: gpop.bfs(graph, source, method="messages", **options),
        lambda graph, result: result.level,
    ),
    "pagerank": App(
        lambda graph, source, options: gpop.pagerank(graph, **_ten(options)),
        lambda graph, result: result.rank,
    ),
    "sssp": App(
        lambda graph, source, options: gpop.sssp(graph, source, method="messages", **options),
        lambda graph, result: result.distance,
        weighted=True,
    ),
    "cc": App(
        lambda graph, source, options: gpop.connected_components(graph, "labels", **options),
        lambda graph, result: result.label,
    ),
    "nibble": App(lambda graph, source, options: gpop.nibble(graph, source, **options), _probability),
    "heat_kernel": App(
        lambda graph, source, options: gpop.heat_kernel(graph, source, **_terms(options)), _probability
    ),
    "pagerank_nibble": App(
        lambda graph, source, options: gpop.pagerank_nibble(graph, source, **options), _probability
    ),
    "personalized_pagerank": App(
        lambda graph, source, options: gpop.personalized_pagerank(graph, source, **_ten(options)),
        lambda graph, result: result.rank,
    ),
    "katz": App(
        lambda graph, source, options: gpop.katz(graph, 0.01, **_ten(options)),
        lambda graph, result: result.score,
    ),
    "hits": App(
        lambda graph, source, options: gpop.hits(graph, **_ten(options)),
        lambda graph, result: result.authority,
    ),
    "independent_set": App(lambda graph, source, options: gpop.independent_set(graph, **options), _members),
}
"""What sends messages, and so has modes."""


def app_of(program: type[gpop.Program]) -> App:
    """A program of one's own (see `gpop.execution.given`); compared by the field that is declared first."""
    return App(
        lambda graph, source, options: run_program(program, graph, source, **options),
        lambda graph, result: result.answer,
        weighted=uses_weights(program),
    )
