"""What is measured: per algorithm the call of gpop, the form of its answer, and how to know it is right.

A variant is an algorithm's configuration on a graph (its source, its number of iterations), as JSON flags.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.apps.with_messages import APPS, App
from gpop.common.errors import UsageError
from gpop.execution.given import program_named, run_program, uses_weights
from perf import answers
from perf.graphs import vertex, with_weights

Flags = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """``call(graph, flags, options)`` is gpop's function, ``answer`` turns its result into what is compared.

    ``right`` computes the same another way, where it is compared (perf/answers.py). ``tolerance`` is for
    floating-point answers. ``interleaved``: iterations may run into each other. ``variants`` are the
    configurations every store knows; the first is the default. ``all_active``: nothing but a number of
    iterations ends it. ``switches``: modes between which auto may change from one iteration to the next.
    ``bulk``: flags with which all modes do the same in a step, for the log of steps. ``unforced``: options of
    who forces no mode, where modes are otherwise compared by messages alone.
    """

    name: str
    title: str
    call: Callable[[gpop.Graph, Flags, Flags], Any]
    answer: Callable[[gpop.Graph, Any], np.ndarray]
    variants: dict[str, Flags]
    right: Callable[[gpop.Graph, Flags], np.ndarray] | None = None
    tolerance: float = 0.0
    weighted: bool = False
    interleaved: bool = False
    all_active: bool = False
    switches: tuple[str, ...] = ()
    bulk: Flags = field(default_factory=dict)
    unforced: Flags = field(default_factory=dict)

    def graph(self, graph: gpop.Graph) -> gpop.Graph:
        """The graph that the algorithm runs on."""
        return with_weights(graph) if self.weighted else graph


HUB = {"hub": {"source": "max-degree"}}
WALK = {"hub": {"source": "max-degree", "iterations": 10, "threshold": 1e-9}}

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            name="pagerank",
            title="PageRank",
            call=lambda graph, flags, options: gpop.pagerank(
                graph, flags["damping"], flags["iterations"], **options
            ),
            answer=lambda graph, result: result.rank,
            right=answers.ranks,
            tolerance=1e-3,
            all_active=True,
            variants={"10 iterations": {"damping": 0.85, "iterations": 10}},
        ),
        Algorithm(
            name="bfs",
            title="BFS",
            call=lambda graph, flags, options: gpop.bfs(
                graph, vertex(graph, flags["source"]), **{"method": "messages"} | options
            ),
            answer=lambda graph, result: result.level,
            right=answers.levels,
            variants=HUB,
            unforced={"method": "auto"},
            switches=("sc", "pc", "pull"),
        ),
        Algorithm(
            name="sssp",
            title="SSSP",
            call=lambda graph, flags, options: gpop.sssp(
                graph,
                vertex(graph, flags["source"]),
                delta=float(flags["delta"]) if "delta" in flags else None,
                **options,
            ),
            answer=lambda graph, result: answers.as_distances(result.distance, result.reached, graph),
            right=answers.distances,
            tolerance=1e-3,
            weighted=True,
            interleaved=True,
            variants=HUB,
            switches=("sc", "pc"),
            bulk={"delta": "inf"},  # else pc sends for those, too, that wait for their bucket
        ),
        Algorithm(
            name="cc",
            title="connected components",
            call=lambda graph, flags, options: gpop.connected_components(graph, **options),
            answer=lambda graph, result: result.label,
            right=answers.labels,
            interleaved=True,
            variants={"all": {}},
            switches=("sc", "pc"),
        ),
        Algorithm(
            name="nibble",
            title="Nibble",
            call=lambda graph, flags, options: gpop.nibble(
                graph, vertex(graph, flags["source"]), flags["threshold"], flags["iterations"], **options
            ),
            answer=lambda graph, result: result.probability,
            right=answers.walk,
            tolerance=1e-3,
            variants=WALK,
        ),
    )
}


def _compared(name: str, app: App) -> Algorithm:
    """An app as `gpop.compare` runs it, whose answer the store has no other way to."""
    return Algorithm(
        name=name,
        title=name,
        call=lambda graph, flags, options: app.solve(graph, vertex(graph, flags["source"]), options),
        answer=app.answer,
        weighted=app.weighted,
        variants=HUB,
    )


BENCHED = {name: ALGORITHMS.get(name) or _compared(name, app) for name, app in APPS.items()}
"""All apps that send messages; the store and the figures keep to those of the paper."""


def digest(program: str) -> str:
    """Of the file of a program, ``FILE.py:CLASS``: what was measured of it is another's after an edit."""
    return hashlib.sha256(Path(program.rpartition(":")[0]).read_bytes()).hexdigest()[:8]


def of_program(text: str) -> Algorithm:
    """A program of one's own, ``FILE.py:CLASS``, from the vertex with most out-edges."""
    cls = program_named(text)
    return Algorithm(
        name=cls.__name__,
        title=cls.__name__,
        call=lambda graph, flags, options: run_program(cls, graph, vertex(graph, flags["source"]), **options),
        answer=lambda graph, result: result.answer,
        weighted=uses_weights(cls),
        interleaved=cls.combine != "add" and not cls.all_active,
        all_active=cls.all_active,
        variants=HUB,
    )


def algorithm_named(name: str) -> Algorithm:
    """The algorithm, or a `UsageError` that lists those there are."""
    if name not in ALGORITHMS:
        raise UsageError(f"app {name!r}: expected one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]
