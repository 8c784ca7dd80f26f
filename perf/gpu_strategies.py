"""``python -m perf gpu-strategies``: ways to walk neighbours on a GPU beside each other, on equal terms.

    python -m perf gpu-strategies --store gpu.db                       # all that gpop has, by name
    python -m perf gpu-strategies --store gpu.db --paper               # the papers' 19 of PageRank, 56 of BFS
    python -m perf gpu-strategies --store gpu.db --paper data/road.bin --apps bfs

Every answer is checked (levels exactly, the papers' ranks to 1e-5), and seconds are stored per iteration;
what is stored already is not run again. The table has the median of the loop on the device, and its ratio to
the fastest.
"""

from __future__ import annotations

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.paper import NAMED, PAPER
from perf.parser import with_store
from perf.register import register_family, register_graphs, register_run_config
from perf.run_benchmarks import Tally, run_missing
from perf.store import Store

GRAPHS = ("rmat:scale=20,symmetrize", "grid:width=1024,height=1024", "uniform:scale=18")
"""Where none are given: a few hubs, a long way, neither."""

TIMES = """
SELECT i.name AS name, t.medianTime AS seconds, r.validated AS right FROM Run r
JOIN Implementation i ON i.id = r.implId JOIN Variant v ON v.id = r.variantId JOIN Graph g ON g.id = v.graphId
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


def _run(argv: list[str]) -> int:
    parser = with_store("gpu-strategies", __doc__)
    parser.add_argument(
        "graphs", nargs="*", default=GRAPHS, metavar="graph", help="files, or KIND:SIZE=VALUE,..."
    )
    parser.add_argument("--paper", action="store_true", help="those of the papers, by their names")
    parser.add_argument("--apps", default=",".join(PAPER), help="default: %(default)s")
    parser.add_argument("--only", default="", metavar="NAME,...", help="some of them; default: all")
    parser.add_argument("--repeats", type=int, default=5, help="default: %(default)s")
    given = parser.parse_args(argv)
    known = PAPER if given.paper else NAMED
    apps, only = given.apps.split(","), [name for name in given.only.split(",") if name]
    unknown = [app for app in apps if app not in known]
    unknown += [name for name in only if not any(name in known[app] for app in apps if app in known)]
    if unknown:
        every = list(known) if unknown[0] in apps else [name for app in apps for name in known[app]]
        raise UsageError(f"gpu-strategies {unknown[0]!r}: expected some of {', '.join(every)}")
    if given.repeats < 1:
        raise UsageError(f"--repeats {given.repeats}: expected at least 1")
    from gpop.gpu.device import cupy

    cupy()  # refuses in one line where there is no device
    dataset, tally = "gpu strategies", Tally()
    with Store(given.store) as store:
        graphs = register_graphs(store, dataset, given.graphs)
        for app in apps:
            register_family(store, app, known[app])
            register_run_config(store, app, dataset, repeats=given.repeats)
        chosen = only or [name for app in apps for name in known[app]]
        run_missing(store, platform_name(), chosen, tally=tally, datasets=[dataset])
        for app in apps:
            names = [name for name in known[app] if not only or name in only]
            for graph in graphs:
                print("\n".join(table(store, app, graph, names)))
    print(tally)
    return 1 if tally.wrong or tally.failed else 0


def main(argv: list[str]) -> int:
    """Run and print; 1 when an answer was wrong or a run failed."""
    return exit_code(lambda: _run(argv))
