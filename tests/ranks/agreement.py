"""Run under mpiexec: what programs give on these ranks, compared bit by bit with a run alone.

Each rank compares its own part, and the whole where it was gathered; a difference ends the job. Arguments:
names of the checks of `CHECKS`, each perhaps with ``:sc`` or another mode; none: all in all modes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import gpop
from gpop.generate import generate
from gpop.ranks.world import World, world_of
from tests import programs
from tests.prioritised import Widest

MODES = ("sc", "pc", "pull", "auto")


def world() -> World:
    """The ranks of the job."""
    return world_of("mpi")


def told(alone: Callable[[], Any]) -> Any:
    """What rank 0 finds by itself, on every rank: what each would compile takes most of the time."""
    found = None if world().rank else alone()
    world().rest()
    return world().first_ones(found)


@cache
def graphs() -> dict[str, gpop.Graph]:
    """Skewed, long and odd ones; with weights, isolated vertices and fewer partitions than ranks."""
    return world().first_ones(None if world().rank else _graphs())


def _graphs() -> dict[str, gpop.Graph]:
    return {
        "rmat": generate("rmat", scale=8, degree=8, seed=3, weights=(1, 255)),
        "road": generate("road", width=12, height=11, seed=4),
        "random": programs.random_graph(5, 301, 1500, weights=True),
        "one vertex": gpop.Graph.from_edges([0], [0], np.array([3], np.uint32)),
    }


def toy(kind: type[gpop.Program], *, begin: Callable[[Any], Any] | None = None, **options: Any) -> Callable:
    """A check of one program; ``begin`` sets its fields and returns the frontier."""

    def solve(graph: gpop.Graph, **how: Any) -> dict[str, np.ndarray]:
        program = kind(graph)
        frontier = begin(program) if begin else None
        run = gpop.run(program, frontier, **options, **how)
        fields = {name: getattr(program, name) for name in kind.vertex_fields()}
        return {
            "part": run.part, "fields": fields,
            "exchange": run.trace.summary.get("exchange"),
            "iterations": run.iterations, "frontier": run.frontier,
            "sizes": run.trace.column("frontier"), "edges": run.trace.column("active_edges"),
            "bytes": run.trace.column("bytes"), "sends": run.trace.column("partitions_sc"),
            "asked": run.trace.column("partitions_pull") > 0,
            **({} if run.touched is None else {"touched": run.touched}),
        }  # fmt: skip

    return solve


def labels(program: gpop.Program) -> None:
    program.label = np.random.default_rng(1).permutation(program.graph.n)


def root(program: gpop.Program) -> list[int]:
    program.parent[0], program.level[0] = 0, 0
    return [0]


def start(program: gpop.Program) -> list[int]:
    program.distance[0] = 0
    return [0]


def colours(program: gpop.Program) -> None:
    program.mask = 1 << (np.arange(program.graph.n) % 4)


def masses(program: gpop.Program) -> np.ndarray:
    program.mass = np.random.default_rng(2).random(program.graph.n)
    program.threshold = 1e-3
    return np.flatnonzero(program.graph.out_degree)[::-1]


def ranks(program: gpop.Program) -> None:
    program.rank, program.eps = np.random.default_rng(3).random(program.graph.n), 1e-3


def few_ranks(program: gpop.Program) -> None:
    ranks(program)
    program.eps = 0.05


def numbers(program: gpop.Program) -> None:
    program.heard = np.arange(program.graph.n) % 31


class Buckets(programs.Distance):
    """The same with priorities."""

    def priorityFunc(self, node):
        return np.int64(self.distance[node] / 100)


class Lingering(programs.Smallest):
    """The same, and every vertex stays active once."""

    left = gpop.VertexField(np.uint8, 1)

    def initFunc(self, node):
        stays = self.left[node] > 0
        self.left[node] = 0
        return stays


class Counted(programs.Smallest):
    """The same; who joins the frontier is asked once, and sends once."""

    asked = gpop.VertexField(np.int32)
    sent = gpop.VertexField(np.int32)

    def initFunc(self, node):
        self.sent[node] += 1
        return False

    def filterFunc(self, node):
        self.asked[node] += 1
        return True


def counted(graph: gpop.Graph, **how: Any) -> dict[str, Any]:
    found = toy(Counted, begin=labels, interleave=True)(graph, **how)
    fields = found["fields"]
    fields["sent unasked"] = fields.pop("sent") - fields.pop("asked")
    return found


def widest(program: gpop.Program) -> list[int]:
    program.width[0] = 2**30
    return [0]


CHECKS = {
    "smallest": toy(programs.Smallest, begin=labels),
    "parents": toy(programs.Parents, begin=root),
    "distance": toy(programs.Distance, begin=start),
    "buckets": toy(Buckets, begin=start),
    "colours": toy(programs.Colours, begin=colours),
    "drift": toy(programs.Drift, begin=masses, iterations=12),
    "rank": toy(programs.Rank, begin=ranks, iterations=9),
    "settled": toy(programs.Rank, begin=few_ranks, iterations=99),
    "rumours": toy(programs.Rumours, begin=numbers, iterations=6),
    "marked": toy(programs.MarkedRumours, begin=numbers, iterations=6),
    "weighted": toy(programs.WeightedRumours, begin=numbers, iterations=5),
    "formula": toy(programs.Formula, iterations=5),
    "smallest-interleaved": toy(programs.Smallest, begin=labels, interleave=True),
    "counted-interleaved": counted,
    "lingering-interleaved": toy(Lingering, begin=labels, interleave=True),
    "distance-interleaved": toy(programs.Distance, begin=start, interleave=True),
    "buckets-interleaved": toy(Buckets, begin=start, interleave=True),
    "widest-interleaved": toy(Widest, begin=widest, interleave=True),
}

PULLS = ("colours", "rank", "settled", "formula")
WEIGHTED = ("distance", "buckets", "weighted", "widest")


def are_parents(parent: np.ndarray, level: np.ndarray, part: slice, graph: gpop.Graph) -> bool:
    """Whether those of a part are neighbours that are one level nearer to the root, and others have none."""
    vertices = np.arange(graph.n)[part]
    reached = vertices[level[part] > 0]
    ends = np.repeat(np.arange(graph.n), np.diff(graph.indptr)) * graph.n + graph.indices
    edges = np.isin(parent[reached] * np.int64(graph.n) + reached, ends)
    nearer = level[parent[reached]] == level[reached] - 1
    none = parent[vertices[level[part] < 0]] == programs.NOWHERE
    return bool(edges.all() and nearer.all() and none.all())


def compare(name: str, alone: dict, here: dict, fixed: bool, graph: gpop.Graph) -> None:
    """Refuse a difference in the rank's own part; counts and frontiers are equal at a fixed mode.

    Which parent is heard first is so, too: ranks choose modes for themselves, and those have other orders.
    """
    part = slice(*here.pop("part"))
    alone.pop("part")
    for field, expected in alone["fields"].items():
        found = here["fields"][field]
        if field == "parent" and not fixed:
            if not are_parents(found, alone["fields"]["level"], part, graph):
                raise AssertionError(f"{name}: {found[part]} are no parents")
            continue
        if not np.array_equal(found[part], expected[part], equal_nan=True):
            at = part.start + int(np.flatnonzero(found[part] != expected[part])[0])
            raise AssertionError(f"{name}: {field}[{at}] is {found[at]}, alone {expected[at]}")
    counts = {
        what: expected
        for what, expected in alone.items()
        if what not in ("fields", "exchange", "bytes", "sends", "asked")
    }
    for what, expected in counts.items():
        found = here[what]
        if what in ("frontier", "touched"):
            found, expected = np.sort(found), np.sort(expected)
        if fixed and not np.array_equal(found, expected):
            raise AssertionError(f"{name}: {what} {found}, alone {expected}")


def check(
    name: str, mode: str, graph_name: str, graph: gpop.Graph, threads: tuple[int, ...], sizes: tuple[int, ...]
) -> int:
    """Compare on one graph; the number of runs."""
    kind, _, interleaved = name.partition("-")
    if kind in WEIGHTED and graph.weights is None:
        return 0
    for size in sizes:
        options = {"mode": mode, "partition_size": size}
        alone = told(lambda how=options: CHECKS[name](graph, threads=1, transport="alone", **how))
        for count in threads:
            gather = count == 1
            here = CHECKS[name](graph, threads=count, transport="mpi", gather=gather, **options)
            if gather:
                here["part"] = (0, graph.n)
            # A vertex that waits for its bucket tells what it knows in pc, but not to other ranks.
            fixed = mode != "auto" and (name, mode) != ("buckets", "pc") and not interleaved
            compare(f"{name} {mode} {graph_name} {size} x{count}", dict(alone), here, fixed, graph)
    return len(sizes) * len(threads)


def main(asked: list[str], threads: tuple[int, ...] = (1, 2), sizes: tuple[int, ...] = (8, 64)) -> None:
    """Run the checks that are asked for."""
    done = 0
    for text in asked or CHECKS:
        name, _, mode = text.partition(":")
        for each in (mode,) if mode else MODES:
            if each == "pull" and name not in PULLS:
                continue
            done += sum(check(name, each, *graph, threads, sizes) for graph in graphs().items())
            if world().rank == 0:
                print(text, each, flush=True)
    if world().rank == 0:
        print(f"{done} runs agree on {world().size} ranks")


if __name__ == "__main__":
    main(sys.argv[1:])
