"""``python -m perf l2-tables``: tables of L2 misses, each from one command.

    python -m perf l2-tables agreement --scales 14,15,16        simulator against cachegrind
    python -m perf l2-tables sides GRAPH ... --out FILE         gpop's modes, push and pull side by side

``agreement``: PageRank on RMAT, degree 16; the back ends must not differ by more than 15 %.
``sides``: misses per edge and iteration of PageRank, and per edge of a whole BFS, by the simulator. Said for
each graph: by what factor PC and auto miss less than the better of the two vertex-centric kernels, which is
the claim of partition-centric processing; below 1 it does not hold. ``fits`` marks graphs whose vertex
values fit the L2, where there is nothing to gain.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpop.common.command import exit_code
from gpop.common.errors import GpopError, UsageError
from perf import cachegrind, l2_simulator
from perf.cache_simulator import Geometry, machine_caches, parse_geometry
from perf.graphs import name_of, open_graph
from perf.l2 import profile, workload
from perf.l2_workload import parse_modes
from perf.parser import with_out
from perf.provenance import perf_command, written

ALLOWED = 0.15

SIDES = ("pc", "sc", "auto", "gpop-pull", "baseline-push", "baseline-pull")
CLAIMED = ("pc", "auto")
"""Modes that are held against push and pull."""


def agreement(
    scales: list[int], l1: Geometry, l2: Geometry, modes: list[str]
) -> Iterator[tuple[str, str, float, float]]:
    """Graph, mode and misses per edge and iteration by simulator and by cachegrind."""
    for scale in scales:
        spec = f"rmat:scale={scale},degree=16,seed=1"
        work = workload("pagerank", open_graph(spec), "max-degree", l2, None)
        found = [profile(work, modes, 2, back_end, l1, l2) for back_end in (l2_simulator, cachegrind)]
        for ours, theirs in zip(*found, strict=True):
            key = "l2_misses_per_edge_and_iteration"
            yield name_of(spec), ours["mode"], ours[key], theirs[key]


def print_agreement(scales: list[int], l1: Geometry, l2: Geometry) -> int:
    """The table; 1 if a pair differs by more than is allowed."""
    modes = parse_modes("sc,pc,push,pull")
    print(f"{'graph':32}{'mode':>14}{'simulator':>11}{'cachegrind':>12}{'difference':>12}")
    worst = 0.0
    for graph, mode, ours, theirs in agreement(scales, l1, l2, modes):
        worst = max(worst, abs(ours / theirs - 1))
        print(f"{graph:32}{mode:>14}{ours:11.4f}{theirs:12.4f}{ours / theirs - 1:12.1%}", flush=True)
    print(f"largest difference {worst:.1%}, allowed {ALLOWED:.0%}")
    return int(worst > ALLOWED)


def print_sides(graphs: list[str], l1: Geometry, l2: Geometry) -> None:
    """The table of modes side by side."""
    print(
        f"{'app':9}{'graph':20}{'edges':>9}{'q':>6}"
        + "".join(f"{mode.removeprefix('baseline-'):>10}" for mode in SIDES)
        + "".join(f"{'/' + mode:>7}" for mode in CLAIMED)
    )
    where: dict[tuple[str, bool], list[str]] = {}
    for app in ("pagerank", "bfs"):
        for spec in graphs:
            try:
                work = workload(app, open_graph(spec), "max-degree", l2, None)
            except GpopError as error:
                raise UsageError(f"{spec}: {error}") from error
            records = profile(work, list(SIDES), 2, l2_simulator, l1, l2)
            key = "l2_misses_per_edge_and_iteration" if app == "pagerank" else "l2_misses_per_edge"
            misses = {record["mode"]: record[key] for record in records}
            baseline = min(misses["baseline-push"], misses["baseline-pull"])
            for mode in CLAIMED:
                where.setdefault((mode, misses[mode] < baseline), []).append(f"{app} {name_of(spec)}")
            gains = (f"{baseline / misses[mode]:7.2f}" if misses[mode] else f"{'-':>7}" for mode in CLAIMED)
            print(
                f"{app:9}{name_of(spec)[:19]:20}{work.graph.m:9}{work.partition_size:6}"
                + "".join(f"{misses[mode]:10.4f}" for mode in SIDES)
                + "".join(gains)
                + ("  fits" if work.graph.n * 4 <= l2.size else ""),
                flush=True,
            )
    for mode in CLAIMED:
        print(f"{mode} misses less than push and pull: {', '.join(where.get((mode, True), ['nowhere']))}")
        print(f"{mode} does not: {', '.join(where.get((mode, False), ['nowhere']))}")


def main(argv: list[str]) -> int:
    """``python -m perf l2-tables agreement|sides ...``"""
    parser = with_out("l2-tables", __doc__)
    parser.add_argument("table", choices=("agreement", "sides"))
    parser.add_argument("graphs", nargs="*", help="of sides: files, or generators such as rmat:scale=16")
    parser.add_argument("--scales", default="14,15,16", help="of agreement (default 14,15,16)")
    parser.add_argument("--l1", default=str(machine_caches()[0]), help="SIZE[,WAYS[,LINE]], the machine's")
    parser.add_argument("--l2", default="256K", help="SIZE[,WAYS[,LINE]], default 256K as in the paper")

    def work() -> int | None:
        args = parser.parse_args(argv)
        l1, l2 = parse_geometry(args.l1), parse_geometry(args.l2)
        with written(args.out, perf_command("l2-tables", argv)):
            print(f"L1 {l1}, L2 {l2} (bytes, ways, line), 1 thread; L2 misses of data per edge")
            if args.table == "agreement":
                return print_agreement([int(scale) for scale in args.scales.split(",")], l1, l2)
            return print_sides(args.graphs, l1, l2)

    return exit_code(work)
