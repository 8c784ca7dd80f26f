"""``python -m perf gpu-strategies``: ways to walk neighbours on a GPU beside each other, on equal terms.

    python -m perf gpu-strategies --store gpu.db                       # all that gpop has, by name
    python -m perf gpu-strategies --store gpu.db --paper data/road.bin --apps bfs
    python -m perf gpu-strategies --store gpu.db --paper --real FOLDER --roots 4 --minutes 20
    python -m perf gpu-papers --store gpu.db                           # the tables of what is stored
    python -m perf gpu-strategies --store gpu.db --paper --orders --apps pagerank rmat:scale=18
    python -m perf gpu-orders --store gpu.db                           # what orders of the vertices do

``--paper``: the papers' 19 implementations of PageRank and 56 of BFS, and where no graphs are given theirs
(perf/paper_graphs.py). Every answer is checked (levels exactly, ranks to 1e-5), seconds are stored for every
iteration; what is stored is not run again, so that a killed command is continued by the same one. Kernels
are compiled first, side by side. One implementation has ``--limit`` seconds for all its runs on a graph: one
from every root, and repeats in a tenth of them; what is not done by then is stored as a time-out.
``--part 1/2`` takes every second graph, ``--part 2/2`` the others: two commands may fill one store, each on a
device of its own.
``--describe`` needs no device: it stores properties of graphs, right answers and features of iterations.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from gpop.common.command import exit_code, fail
from gpop.common.errors import UsageError
from perf.graphs import ORDERED
from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.orders import ORDERS
from perf.paper import NAMED, PAPER
from perf.paper_graphs import LONG, ORDERED_FAMILY, graphs_of
from perf.parser import with_store
from perf.register import (
    register_family,
    register_graphs,
    register_platform,
    register_roots,
    register_run_config,
)
from perf.run_benchmarks import Tally
from perf.series import compile_and_measure, describe
from perf.store import Store, StoreError

GRAPHS = ("rmat:scale=20,symmetrize", "grid:width=1024,height=1024", "uniform:scale=18")
"""Where none are given: a few hubs, a long way, neither."""

GIVEN = "gpu strategies"
"""The dataset of graphs that are given."""

TIMES = """
SELECT i.name AS name, t.medianTime AS seconds, r.validated AS right FROM Run r
JOIN Implementation i ON i.id = r.implId JOIN Variant v ON v.id = r.variantId JOIN Graph g ON g.id = v.graphId
JOIN VariantConfig vc ON vc.id = v.variantConfigId AND vc.isDefault
JOIN RunConfig c ON c.id = r.runConfigId JOIN Algorithm a ON a.id = r.algorithmId
JOIN TotalTimer t ON t.runId = r.id AND t.name = 'loop'
WHERE a.name = ? AND g.name = ? AND c.algorithmVersion = ? ORDER BY seconds"""


def table(store: Store, algorithm: str, graph: str, names: list[str]) -> list[str]:
    """Lines, the fastest first; a wrong answer is none."""
    rows = [row for row in store.rows(TIMES, (algorithm, graph, gpop_version())) if row["name"] in names]
    right = [row for row in rows if row["right"]]
    lines = [f"{algorithm} on {graph}: {len(right)} of {len(names)}"]
    for row in right:
        ratio = row["seconds"] / max(right[0]["seconds"], 1e-12)
        lines.append(f"  {row['name']:34} {1e3 * row['seconds']:10.3f} ms {ratio:8.2f}")
    return lines


def _part(text: str) -> tuple[int, int]:
    """Which part of how many.

    Examples
    --------
    >>> _part("2/3")
    (2, 3)
    """
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected I/N, I from 1 to N")
    return int(part), int(parts)


def _parse(argv: list[str]):
    parser = with_store("gpu-strategies", __doc__)
    parser.add_argument("graphs", nargs="*", metavar="graph", help="files, or KIND:SIZE=VALUE,...")
    parser.add_argument("--paper", action="store_true", help="those of the papers, by their names")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="with edge lists, for --paper")
    parser.add_argument("--orders", action="store_true", help="the given graphs in orders by degree")
    parser.add_argument("--apps", default=",".join(PAPER), help="default: %(default)s")
    parser.add_argument("--only", default="", metavar="NAME,...", help="some of them; default: all")
    parser.add_argument("--roots", type=int, default=0, help="of BFS, beside the hub (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="at most; default: %(default)s")
    parser.add_argument(
        "--limit", type=float, default=2.0, metavar="SECONDS", help="of a series; default: %(default)s"
    )
    parser.add_argument("--minutes", type=float, help="begin no series after that")
    parser.add_argument(
        "--part", type=_part, default=(1, 1), metavar="I/N", help="this one of so many parts of the graphs"
    )
    parser.add_argument("--describe", action="store_true", help="only what needs no device")
    given = parser.parse_args(argv)
    if given.repeats < 1:
        raise UsageError(f"--repeats {given.repeats}: expected at least 1")
    if given.roots < 0 or not given.limit > 0:
        raise UsageError("expected --roots from 0 on and --limit above 0")
    if given.real is not None and (given.graphs or not given.paper):
        raise UsageError("--real: goes with --paper, without other graphs")
    if given.orders and not given.graphs:
        raise UsageError("--orders: expected some graphs")
    return given


def _chosen(given) -> tuple[dict, list[str], list[str]]:
    """What there is by name, the apps, and the names that are wanted."""
    known = PAPER if given.paper else NAMED
    apps, only = given.apps.split(","), [name for name in given.only.split(",") if name]
    unknown = [app for app in apps if app not in known]
    unknown += [name for name in only if not any(name in known[app] for app in apps if app in known)]
    if unknown:
        every = list(known) if unknown[0] in apps else [name for app in apps for name in known[app]]
        raise UsageError(f"gpu-strategies {unknown[0]!r}: expected some of {', '.join(every)}")
    return known, apps, only or [name for app in apps for name in known[app]]


def _platform(needs_none: bool) -> str:
    """The device's name; this machine's where none is needed. Refuses in one line where there is none."""
    if needs_none:
        return platform_name()
    from gpop.gpu.device import cupy, current_device

    cupy()
    return current_device().name


def _families(given, app: str) -> dict[str, list[str]]:
    """Dataset -> graphs that an app is to be measured on."""
    if given.orders:
        return {ORDERED_FAMILY: [f"{graph}{ORDERED}{order}" for graph in given.graphs for order in ORDERS]}
    if given.graphs or not given.paper:
        return {GIVEN: list(given.graphs or GRAPHS)}
    return graphs_of(given.real) | (LONG if app == "pagerank" else {})


def _register(
    store: Store, given, known: dict, families: dict[str, dict[str, list[str]]], platform: str
) -> dict[str, list[tuple[str, int]]]:
    """What is to be measured on this platform; names and numbers of the graphs of each app."""
    register_platform(store, platform)
    found: dict[str, list[tuple[str, int]]] = {}
    for app, graphs in families.items():
        register_family(store, app, known[app])
        if app == "bfs":
            register_roots(store, app, given.roots)
        for family, specs in graphs.items():
            found.setdefault(app, []).extend(register_graphs(store, family, specs).items())
            register_run_config(store, app, family, repeats=given.repeats, platform=platform)
    store.complete_variants()
    return found


def _run(argv: list[str]) -> int:
    given = _parse(argv)
    known, apps, chosen = _chosen(given)
    platform = _platform(given.describe)
    families, tally = {app: _families(given, app) for app in apps}, Tally()
    with Store(given.store) as store:
        graphs = _register(store, given, known, families, platform)
        missing = store.missing(platform, gpop_version())
        jobs = [job for job in missing if job["dataset"] in families.get(job["algorithm"], ())]
        part, parts = given.part
        mine = {number for found in graphs.values() for _, number in found[part - 1 :: parts]}
        jobs = [job for job in jobs if job["implementation"] in chosen and job["graphId"] in mine]
        try:
            if given.describe:
                count = sum(describe(store, jobs))
                print(f"{count} run{'s' * (count != 1)} to do, described")
                return 0
            deadline = None if given.minutes is None else time.monotonic() + 60 * given.minutes
            compile_and_measure(store, jobs, given.limit, tally, deadline)
        except KeyboardInterrupt:
            return fail(f"interrupted; {tally}; the same command continues", 130)
        except StoreError as error:
            return fail(f"{error}; {tally} before that; the same command continues", 2)
        for app in apps if given.graphs or not given.paper else ():
            names = [name for name in known[app] if name in chosen]
            for graph, _ in graphs[app]:
                print("\n".join(table(store, app, graph, names)))
    print(tally)
    return 1 if tally.wrong or tally.failed else 0


def main(argv: list[str]) -> int:
    """Run and print; 1 when an answer was wrong or a run failed."""
    return exit_code(lambda: _run(argv))
