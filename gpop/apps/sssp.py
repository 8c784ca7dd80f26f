"""Single-source shortest paths with weights that are not negative.

Three algorithms with the same result. For whole-number weights, *lists*: light edges are pushed and most
others never looked at, see `gpop.direct.shortest_paths`; *calendar*: narrow buckets, for small graphs, see
`gpop.direct.calendar`. *messages*, of which the rest of this file is:
Algorithm: delta-stepping. Improved vertices scatter (GPOP, Algorithm 7) in buckets of distances that
are ``delta`` wide, the lowest bucket first. An infinite ``delta`` is Bellman-Ford.
How wide buckets are, and when messages are gathered as soon as they are there: sssp_buckets.py.
Unusual: whole-number distances are computed in uint32. They are exact unless the largest one comes within
one edge of 2**31-1; then (and for weights above 2**31) the run is repeated in uint64.
Encoding: a vertex that is not reached has the largest distance: 2**31-1 (uint32), 2**63-1 (uint64) or
inf (float weights keep their type). It may be sent along any edge: it never improves anything.
Papers: Lakhotia et al., "GPOP"; Meyer, Sanders, "Delta-stepping" (2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

import gpop
from gpop.apps import cli, report
from gpop.apps.distances import are_exact, fall_short, reached_of
from gpop.apps.inputs import one_vertex
from gpop.apps.on_ranks import several
from gpop.apps.paths import along_distances
from gpop.apps.prototype import Prototype
from gpop.apps.resolved import Way, resolving
from gpop.apps.result import AppResult, Holds, holds
from gpop.apps.sssp_buckets import bucket_width, interleaves, mean_step
from gpop.apps.sssp_methods import METHODS, NO_ROOM, choose, there_is_room, without_messages
from gpop.apps.sssp_programs import SSSP, UNORDERED, DoubleSSSP, FloatSSSP, WideSSSP
from gpop.apps.weights import heaviest_weight
from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.on_demand import OnDemand, looked_at
from gpop.execution.again import Ran
from gpop.execution.options import LimitedOptions

INFINITY = SSSP.distance.dtype.type(SSSP.distance.fill)
"""Of distances in uint32."""


@dataclass(frozen=True, kw_only=True)
class SSSPResult(AppResult):
    """``distance`` of every vertex and ``reached`` (bool).

    Where not reached, the distance is the largest of its type: 2147483647 (2**31 - 1) in uint32, 2**63 - 1
    in uint64, inf in floating point. In tables it is missing there.
    """

    source: int = holds(Holds.VERTEX)
    distance: np.ndarray = holds(Holds.VALUES, missing="reached")
    reached: np.ndarray = holds(Holds.VALUES)

    def path(self, to: Any) -> list[Any]:
        """A shortest path from the source, as original ids; found backwards along in-edges.

        Parameters
        ----------
        to : int, str, ...
            The original id of its end; its index where the graph has no original ids.

        Returns
        -------
        list
            From the source to ``to``, both included.

        Raises
        ------
        UsageError
            If there is no such vertex, the source does not reach it, this is a rank's part of the answer, or
            the result was pickled: the graph is not pickled with it.

        Examples
        --------
        >>> columns = {"from": ["a", "b", "a"], "to": ["b", "c", "c"], "weight": [1, 1, 5]}
        >>> gpop.sssp(gpop.read_edges(columns), "a").path("c")
        ['a', 'b', 'c']
        """
        self._needs_whole(self.reached, "a path")
        end = self.vertex_of(to)
        if not self.reached[end]:
            raise UsageError(f"{self.name_of(end)!r} is not reached from {self.name_of(self.source)!r}")
        if self.graph is None:
            raise UsageError("a path needs the graph, which is not copied or pickled with a result")
        return self.names_of(along_distances(self.graph, self.distance, self.source, end))


@resolving("source")
def sssp(
    graph: gpop.Graph,
    source: int | str,
    *,
    method: str = "auto",
    delta: float | None = None,
    interleave: bool | None = None,
    **options: Unpack[LimitedOptions],
) -> Way[SSSPResult]:
    """Lengths of the shortest paths from ``source`` along out-edges.

    Parameters
    ----------
    graph : Graph
        With weights of any numeric type, none of them negative.
    source : int or str
        Vertex index, or the name of a vertex; ``graph.vertex_of(id)`` for an original id that is a number.
    method : "auto", "messages", "lists" or "calendar"
        Where weights are whole numbers auto is the calendar, on small graphs and a CPU, and by four threads
        on large roads and meshes; and lists where vertices have many edges, also on a GPU, unless an option
        speaks of messages or iterations. The choice and its reason are in ``trace.summary``.
    delta : float, optional
        Of messages: width of the buckets of distances that are finished one after the other. Distances do not
        depend on it. A small one saves edges, a large one saves iterations; ``math.inf`` makes no buckets. By
        default it is chosen from the mean weight and the mean degree.
    interleave : bool, optional
        Gather what has arrived before scattering: fewer iterations, same distances. By default on graphs of
        4 M edges or more, or of half a million at most, where nine of ten edges stay in their partition, and
        on the GPU.
    reorder : str
        "none", or the order of the vertices to run in: see `gpop.graph.transform.relabel`. Vertices are given
        and returned as they are in ``graph``.
    **options : LimitedOptions
        ``threads, mode, ratio, model, partition_size, target, progress, callback, iterations``: see
        `gpop.run`.

    Returns
    -------
    SSSPResult
        ``distance`` [n]: uint32 for whole-number weights, uint64 where distances need it, float32 or float64
        for such weights. ``reached``, bool [n]; where it is False, distance is the largest of its kind:
        2**31 - 1, 2**63 - 1 or inf.

    Raises
    ------
    UsageError
        If ``source`` is no vertex of the graph, weights are missing, negative or too large for whole-number
        distances, ``delta`` is not possible, for an unknown method, or an option that does not fit.

    Examples
    --------
    >>> graph = gpop.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[2, 3, 9])
    >>> gpop.sssp(graph, source=0).distance
    array([0, 2, 5], dtype=uint32)
    """
    return _Way(graph, method, delta, interleave, options).search


class _Way:
    """How to search, of what is asked for."""

    def __init__(
        self, graph: gpop.Graph, method: str, delta: float | None, interleave: bool | None,
        options: dict[str, Any],
    ) -> None:  # fmt: skip
        self.heaviest, self.n, self.options = heaviest_weight(graph, "sssp"), graph.n, options
        self.auto, asked = method == "auto", {"interleave": interleave, **options}
        self.method, self.reason = choose(graph, method, self.heaviest, delta, asked)
        self.unit = mean_step(graph) or 1.0
        self.delta, self.interleave = delta, interleave
        self.prototypes: list[tuple[Prototype, np.generic, bool]] = []

    def search(self, graph: gpop.Graph, source: Any) -> SSSPResult:
        """Distances from a source."""
        source = one_vertex(graph, source)
        method, reason, by_messages = self.method, self.reason, self.method == "messages"
        if method == "lists" and self.auto and not there_is_room(graph, self.options):
            reason, by_messages = NO_ROOM, True
        if not by_messages:
            try:
                found = without_messages(graph, source, self.unit, method, reason, self.options)
            except NotEnoughMemory as error:
                if not self.auto:
                    raise
                reason = f"no memory for {method}: {error}"
            else:
                distance, below, run = found
                near = self.is_near(below, int(INFINITY))
                if near or are_exact(looked_at(distance), INFINITY, self.heaviest):
                    return _result(source, distance, INFINITY, run)
                reason = f"distances are too long for method {method!r}"
        return self.by_messages(graph, source, reason)

    def is_near(self, below: float, infinity: float) -> bool:
        """Whether distances that are less than this, or than all weights together, are exact."""
        return infinity == np.inf or min(below, self.heaviest * self.n) + self.heaviest < infinity

    def by_messages(self, graph: gpop.Graph, source: int, reason: str) -> SSSPResult:
        """A run of the program; of another one where distances are longer than this one's may be."""
        if not self.prototypes:  # all at once: who calls meanwhile, or after an interrupt, finds none or all
            self.prototypes = self._prototypes(graph)
        first = {"distance": {source: 0}}
        for prototype, infinity, near in self.prototypes:

            def result(ran: Ran, infinity: np.generic = infinity) -> SSSPResult:
                ran.summary = {"method": "messages", "reason": reason}
                return _result(source, ran.field("distance"), infinity, ran)

            found = prototype.run(result, graph, first, source)
            if near or are_exact(found.distance, infinity, self.heaviest):
                return found
        # The last one has room for any distance and an edge; on ranks nobody has all edges to look at.
        if self.heaviest <= 2**63 and not several(self.options):
            if not fall_short(graph, found.distance, infinity):
                return found
        raise UsageError(
            f"distances exceed 2**63 (heaviest weight {self.heaviest}): give the weights as floating point"
        )

    def _prototypes(self, graph: gpop.Graph) -> list[tuple[Prototype, np.generic, bool]]:
        """Of the programs that may be wanted, the narrowest first; what is infinite to each, and whether all
        distances are nearer than that."""
        options = self.options
        if self.interleave is None:
            self.interleave = interleaves(graph, options)
        delta = bucket_width(graph, self.delta, self.interleave, options)
        if graph.weights.dtype.kind == "f":
            kinds = [DoubleSSSP if graph.weights.dtype.itemsize > 4 else FloatSSSP]
        else:
            kinds = [SSSP, WideSSSP] if self.heaviest <= 2**31 else [WideSSSP]
        if options.get("target") == "gpu" and delta == np.inf:
            kinds = [UNORDERED[kind] for kind in kinds]
        asked, made = {**options, "interleave": self.interleave}, []
        for kind in kinds:
            program = kind(graph)
            program.delta = kind.delta.dtype.type(min(delta, kind.distance.fill))
            infinity = kind.distance.dtype.type(kind.distance.fill)
            near = self.is_near(np.inf, kind.distance.fill)
            made.append((Prototype(program, options.get("iterations"), asked), infinity, near))
        return made


def _result(source: int, distance: np.ndarray | OnDemand, infinity: np.generic, run: OnDemand) -> SSSPResult:
    """Distances; who has one and what was done, which nobody has looked at."""
    reached = OnDemand(lambda: reached_of(looked_at(distance), infinity))
    return SSSPResult._of_both({"source": source, "distance": distance, "reached": reached, "run": run})


def verify(graph: gpop.Graph, result: SSSPResult, source: int) -> str | None:
    """None, or what is wrong: SciPy's Dijkstra (a heap, float64)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    edges = (graph.weights.astype(np.float64), graph.indices.astype(np.int64), graph.indptr)
    expected = dijkstra(csr_array(edges, shape=(graph.n, graph.n)), indices=source)
    if np.any(np.isfinite(expected) != result.reached):
        return "Dijkstra reaches other vertices"
    exact = result.distance.dtype.kind == "u" and expected[result.reached].max() < 2**53
    allowed = 0 if exact else 1e-12 if result.distance.dtype.itemsize == 8 else 1e-4
    close = np.isclose(result.distance[result.reached], expected[result.reached], rtol=allowed, atol=0)
    return None if close.all() else f"{np.count_nonzero(~close)} distances differ from Dijkstra's"


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.apps.sssp graph [--source ID] ...``"""

    def headline(graph: gpop.Graph, result: SSSPResult, given: Any) -> str:
        farthest = result.distance.max(where=result.reached, initial=0)
        reached = report.share(np.count_nonzero(result.reached), graph.n)
        said = result.trace.summary
        return (
            f"{reached} reached from {given.name}, the farthest at distance {farthest:,}\n"
            f"method      {said['method']}: {said['reason']}"
        )

    def arguments(parser: Any) -> None:
        parser.add_argument("--method", choices=METHODS, default="auto", help="how distances are found")
        parser.add_argument(
            "--delta", type=float, metavar="W", help="width of a bucket of distances; inf: no buckets"
        )

    return cli.main(
        argv,
        cli.App(
            name="sssp",
            about=__doc__,
            source="one",
            weighted=True,
            solve=lambda graph, given, options: gpop.sssp(
                graph, given.source, method=given.method, delta=given.delta, **options
            ),
            headline=headline,
            columns=lambda graph, result: {"distance": result.distance, "reached": result.reached},
            # Interleaved iterations follow edges that the trace does not count: count each reached one once.
            edges=lambda graph, result: graph.out_degree[result.reached].sum(dtype=np.int64),
            verify=lambda graph, result, given: verify(graph, result, given.source),
            arguments=arguments,
            to_the_end=True,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
