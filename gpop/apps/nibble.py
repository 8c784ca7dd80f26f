"""Parallel Nibble: where a lazy random walk from a seed is after a few steps, tiny chances not followed.

Algorithm: GPOP, Algorithm 4. A vertex is active while its probability is at least
threshold * out-degree; in a step it keeps half and sends half, split evenly over its out-edges.
Unusual: strictly local, see around_seeds.py; initFunc keeps vertices active that receive nothing. As in the
paper a vertex below the threshold keeps its probability, and one without out-edges keeps all it gets, so
that the probabilities always sum to 1 (float32, as the original: to about 1e-6).
Papers: Lakhotia et al., "GPOP"; Spielman and Teng; Shun et al., "Parallel local graph clustering".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli
from gpop.apps.around_seeds import Around, LocalResult, Spreading, local_app
from gpop.apps.inputs import Seeds, bulk_synchronous, many_vertices, positive
from gpop.apps.resolved import Way, resolving
from gpop.common.arguments import whole_from
from gpop.execution.options import RunOptions


class Nibble(Spreading):
    """A truncated lazy random walk; active vertices send their ``share``."""

    mass = gpop.VertexField(np.float32)
    threshold = gpop.Parameter(np.float32, 1e-9)

    def initFunc(self, node):
        if self.out_degree[node] == 0:
            return False
        self.share[node] = 0
        self.mass[node] *= np.float32(0.5)
        return self.mass[node] >= self.threshold * np.float32(self.out_degree[node])

    def gatherFunc(self, value, node):
        self.mass[node] += value
        return True

    def filterFunc(self, node):
        degree = np.float32(self.out_degree[node])
        if degree > 0 and self.mass[node] >= self.threshold * degree:
            self.share[node] = np.float32(0.5) * self.mass[node] / degree
            return True
        return False


@dataclass(frozen=True, kw_only=True)
class NibbleResult(LocalResult):
    """``vertices``, ``values`` and ``probability`` of the walk's end."""


@resolving("seeds")
def nibble(
    graph: gpop.Graph,
    seeds: Seeds,
    threshold: float = 1e-9,
    iterations: int = 10,
    **options: Unpack[RunOptions],
) -> Way[NibbleResult]:
    """Distribution of a lazy random walk that starts at one of ``seeds``.

    Parameters
    ----------
    graph : Graph
        Its weights are not looked at: each out-edge of a vertex is as likely as any other.
    seeds : int, str or list of them
        Vertex indices or names; the walk starts at each with the same probability.
    threshold : float
        A vertex with less than ``threshold * out_degree`` is not followed.
    iterations : int
        Steps of the walk.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : RunOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback``: see `gpop.run`.

    Returns
    -------
    NibbleResult
        ``vertices``, uint32, ascending, and ``values``, float32, where the walk can be at its end;
        ``probability``, float32 [n], made when it is first asked for.

    Raises
    ------
    UsageError
        If a seed is no vertex of the graph or there is none, for a threshold that is not above 0,
        or for an option that does not fit.

    Examples
    --------
    >>> path = gpop.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1])
    >>> gpop.nibble(path, seeds=0, iterations=2).probability
    array([0.375, 0.5  , 0.125], dtype=float32)
    """
    bulk_synchronous("nibble", options)
    iterations = whole_from(0, "iterations", iterations)  # no walk but for a short one comes to an end
    parameters = {"threshold": positive("threshold", threshold)}
    return Around(Nibble, NibbleResult, parameters, {"mass": 1.0}, 0.5, "mass", iterations, options)


def verify(
    graph: gpop.Graph, result: NibbleResult, seeds: Seeds, threshold: float = 1e-9, iterations: int = 10
) -> str | None:
    """None, or what is wrong: conservation of mass, then the walk in a dictionary of Python floats."""
    total = float(result.values.sum(dtype=np.float64))
    if abs(total - 1) > 1e-4:
        return f"the probabilities sum to {total}"
    seeds = many_vertices(graph, seeds).tolist()
    mass = dict.fromkeys(seeds, 1 / len(seeds))
    active = set(seeds)
    for _ in range(iterations):
        arrived: dict[int, float] = {}
        for vertex in active:
            neighbours = graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist()
            half = mass[vertex] / 2 if neighbours else 0.0
            mass[vertex] -= half
            for neighbour in neighbours:
                arrived[neighbour] = arrived.get(neighbour, 0.0) + half / len(neighbours)
        for vertex, value in arrived.items():
            mass[vertex] = mass.get(vertex, 0.0) + value
        degrees = {
            vertex: int(graph.indptr[vertex + 1] - graph.indptr[vertex]) for vertex in active | arrived.keys()
        }
        active = {
            vertex for vertex, degree in degrees.items() if degree and mass[vertex] >= threshold * degree
        }
    expected = np.zeros(graph.n)
    expected[list(mass)] = list(mass.values())
    error = float(np.abs(expected - result.probability).sum())
    return None if error < 1e-4 else f"the probabilities differ by {error:.2g} in all from a serial walk"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.nibble graph [--source ID[,ID...]] ...``"""

    def arguments(parser: Any) -> None:
        parser.add_argument(
            "--threshold", type=float, default=1e-9, help="smallest probability per edge followed"
        )
        parser.set_defaults(iterations=10)

    return cli.main(
        argv,
        local_app(
            name="nibble",
            about=__doc__,
            arguments=arguments,
            solve=lambda graph, given, options: gpop.nibble(graph, given.source, given.threshold, **options),
            verify=lambda graph, result, given: verify(
                graph, result, given.source, given.threshold, given.iterations
            ),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
