"""``python -m perf l2``: L2 misses of an app, per edge and per iteration, in gpop's modes and vertex-centric.

    python -m perf l2 --app pagerank --graph rmat:scale=16 --modes sc,pc,auto,push,pull
    python -m perf l2 --app bfs --graph data/road.bin --l2 64K --backend simulator --json
    python -m perf l2 --program apps/widest_path.py:WidestPath --graph data/road.bin --l2 64K

``--program`` takes a program of your own; a method ``start(source)`` of the class sets its fields and returns
its frontier (`gpop.execution.given`). Vertex-centric kernels are there for four of the apps.
An iteration of ``hits`` is half of one of its own: hubs, or authorities.

Modes: ``sc``, ``pc``, ``auto`` are gpop's. ``push`` and ``pull`` are short for ``baseline-push`` and
``baseline-pull``, plain vertex-centric kernels (perf/vertex_centric.py); gpop's own pull mode is
``gpop-pull``. The output has the long names. One thread, no interleaving.

Back ends, the first that is possible unless one is named; the output says which:

counters    hardware counters through ``perf stat``, where the kernel gives them (the machine's own caches)
simulator   built in, fed by the kernels themselves (perf/traced.py); misses of each iteration; small graphs
cachegrind  valgrind, with L1 and L2 as given: the same model, and minutes for starting Python under it

Without the others the simulator also takes larger graphs. Counters and cachegrind subtract two runs of
different length. For PageRank these are 1 and ``--iterations`` + 1 iterations (the first iteration, with
cold caches, is left out of the simulator's sum too), otherwise no iteration and a whole run.

Caches are the machine's, or as given (``--l1``, ``--l2``): a scaled-down L2 shows on a small graph what the
machine's L2 does on a large one. The partition size follows the L2 unless it is given.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import gpop
from gpop.apps.affine import Affine
from gpop.apps.bfs import BFS
from gpop.apps.cc import ConnectedComponents
from gpop.apps.heat_kernel import HeatKernel
from gpop.apps.independent_set import IndependentSet
from gpop.apps.nibble import Nibble
from gpop.apps.pagerank_nibble import PageRankNibble
from gpop.apps.pagerank_programs import PageRank
from gpop.apps.sssp import SSSP
from gpop.common.command import exit_code, file_to_write
from gpop.common.errors import UsageError
from gpop.execution.given import full_name, program_named, uses_weights
from gpop.layout.partition import partition_bits
from perf import cachegrind, hardware_counters, l2_simulator, vertex_centric
from perf.cache_simulator import Geometry, machine_caches, parse_geometry
from perf.graphs import name_of, open_graph, vertex, with_weights
from perf.l2_workload import BASELINES, Workload, parse_modes
from perf.parser import documented
from perf.provenance import perf_command, written

PROGRAMS = {
    "pagerank": PageRank,
    "bfs": BFS,
    "sssp": SSSP,
    "cc": ConnectedComponents,
    "nibble": Nibble,
    "heat_kernel": HeatKernel,
    "pagerank_nibble": PageRankNibble,
    "personalized_pagerank": Affine,
    "katz": Affine,
    "hits": Affine,
    "independent_set": IndependentSet,
}
DEFAULT_MODES = "sc,pc,auto,push,pull", "sc,pc,auto,gpop-pull"
"""Of apps that have vertex-centric kernels, and of all others."""

BACK_ENDS = {module.NAME: module for module in (hardware_counters, cachegrind, l2_simulator)}

SMALL = 1 << 22
"""Up to so many edges the simulator is taken before cachegrind: it needs seconds."""


def choose_back_end(name: str, scaled: bool, edges: int) -> Any:
    """The module of a back end; hardware counters know the machine's own caches only."""
    if name == "auto":
        if hardware_counters.available() and not scaled:
            return hardware_counters
        return cachegrind if edges > SMALL and cachegrind.available() else l2_simulator
    if not BACK_ENDS[name].available():
        raise UsageError(f"back end {name} is not possible on this machine: expected {_possible()}")
    if scaled and name == hardware_counters.NAME:
        raise UsageError(f"back end {name} with --l1 or --l2: it knows the machine's own caches only")
    return BACK_ENDS[name]


def _possible() -> str:
    return " or ".join(name for name, module in BACK_ENDS.items() if module.available())


def workload(
    app: str,
    graph: gpop.Graph,
    source: int | str,
    l2: Geometry,
    partition_size: int | None,
    program: str | None = None,
) -> Workload:
    """The app or program with a graph it can run on, and partitions whose vertex data fits ``l2``."""
    cls = PROGRAMS[app] if program is None else program_named(program)
    if graph.n == 0 or graph.m == 0:
        raise UsageError(f"{graph!r}: expected a graph with edges")
    if uses_weights(cls):
        graph = with_weights(graph)
    elif program is None and app == "cc" and not graph.is_symmetric():
        graph = graph.symmetrize()
    bytes_each = 1 + sum(field.dtype.itemsize for field in cls.vertex_fields().values())
    bits = partition_bits(
        graph.n, 1, edges=graph.m, vertex_bytes=bytes_each, cache_bytes=l2.size, partition_size=partition_size
    )
    name = app if program is None else cls.__name__
    return Workload(name, graph, vertex(graph, source), 1 << bits, program and full_name(program))


def profile(
    work: Workload, modes: list[str], iterations: int, back_end: Any, l1: Geometry, l2: Geometry
) -> list[dict[str, Any]]:
    """One record per mode: iterations, L2 misses, the same per edge and per edge and iteration."""
    cls = PROGRAMS[work.app] if work.program is None else program_named(work.program)
    lengths = (1, iterations + 1) if cls.all_active else (0, None)
    if work.program is None and work.app == "heat_kernel":
        lengths = (1, None)  # the series has a term at least
    records = []
    for mode, (done, misses, *each) in back_end.measure(work, modes, lengths, l1, l2).items():
        records.append(
            {
                "mode": mode,
                "iterations": done,
                "l2_misses": misses,
                "l2_misses_per_edge": misses / work.graph.m,
                "l2_misses_per_iteration": misses / max(done, 1),
                "l2_misses_per_edge_and_iteration": misses / work.graph.m / max(done, 1),
                "l2_misses_of_iterations": each[0] if each else None,
            }
        )
    return records


def report(args: argparse.Namespace) -> dict[str, Any]:
    """Everything that the command prints."""
    l1, l2 = machine_caches()
    l1 = parse_geometry(args.l1, l1.ways, l1.line) if args.l1 else l1
    l2 = parse_geometry(args.l2, l2.ways, l2.line) if args.l2 else l2
    plain = args.program is not None or args.app not in vertex_centric.APPS
    modes = parse_modes(args.modes or DEFAULT_MODES[plain])
    baselines = [mode for mode in modes if mode in BASELINES]
    if plain and baselines:
        raise UsageError(f"mode {baselines[0]}: there is no such kernel of {args.program or args.app}")
    if args.iterations < 1:
        raise UsageError(f"iterations {args.iterations}: expected 1 or more")
    graph = open_graph(args.graph)
    back_end = choose_back_end(args.backend, scaled=bool(args.l1 or args.l2), edges=graph.m)
    source = args.source if args.source == "max-degree" else int(args.source)
    work = workload(args.app, graph, source, l2, args.partition_size, args.program)
    records = profile(work, modes, args.iterations, back_end, l1, l2)
    fits = not any(record["l2_misses"] for record in records)
    return {
        "app": work.app,
        "graph": name_of(args.graph),
        "vertices": work.graph.n,
        "edges": work.graph.m,
        "source": None if work.app in ("pagerank", "cc") else work.source,
        "back_end": back_end.describe(),
        "l1": l1._asdict(),
        "l2": l2._asdict(),
        "partition_size": work.partition_size,
        "threads": 1,
        "note": f"no misses: all data fit the L2 of {l2.size} bytes; try a smaller --l2" if fits else None,
        "modes": records,
    }


def print_table(found: dict[str, Any]) -> None:
    """The report for a person."""
    l1, l2 = Geometry(**found["l1"]), Geometry(**found["l2"])
    print(f"{found['app']} on {found['graph']}: {found['vertices']:,} vertices, {found['edges']:,} edges")
    print(f"L2 misses by {found['back_end']}; L1 {l1}, L2 {l2} (bytes, ways, line)")
    print(f"{found['partition_size']} vertices per partition, 1 thread")
    print(f"{'mode':14}{'iterations':>11}{'misses':>14}{'per edge':>10}{'per edge and iteration':>24}")
    for record in found["modes"]:
        print(
            f"{record['mode']:14}{record['iterations']:11}{record['l2_misses']:14,}"
            f"{record['l2_misses_per_edge']:10.4f}{record['l2_misses_per_edge_and_iteration']:24.4f}"
        )
    if found["note"]:
        print(found["note"])


def _source(text: str) -> str:
    if text != "max-degree" and not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r}: expected max-degree or a vertex index")
    return text


def main(argv: list[str] | None = None) -> int:
    """``python -m perf l2 --app APP --graph GRAPH [--modes ...] [--json]``"""
    parser = documented("l2", __doc__)
    parser.add_argument("--app", choices=PROGRAMS, default="pagerank")
    parser.add_argument("--program", metavar="FILE.py:CLASS", help="of your own, instead of an app")
    parser.add_argument(
        "--graph", required=True, help="a file, or a generator such as rmat:scale=16,degree=16"
    )
    parser.add_argument("--modes", help=f"separated by commas; default: {' or '.join(DEFAULT_MODES)}")
    parser.add_argument("--backend", choices=("auto", *BACK_ENDS), default="auto")
    parser.add_argument("--l1", metavar="SIZE[,WAYS[,LINE]]", help="L1 data cache, instead of the machine's")
    parser.add_argument("--l2", metavar="SIZE[,WAYS[,LINE]]", help="L2 cache, instead of the machine's")
    parser.add_argument("--iterations", type=int, default=2, help="of PageRank, and where all are active (2)")
    parser.add_argument(
        "--source", type=_source, default="max-degree", help="of bfs and sssp: a vertex index"
    )
    parser.add_argument("--partition-size", type=int, help="vertices per partition, a power of two")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--out", type=file_to_write(), metavar="FILE", help="write the table there, with a head"
    )

    def work() -> None:
        args = parser.parse_args(argv)
        found = report(args)
        if args.out:
            with written(args.out, perf_command("l2", sys.argv[1:] if argv is None else argv)):
                print_table(found)
        elif args.json:
            print(json.dumps(found, indent=2))
        else:
            print_table(found)

    return exit_code(work)
