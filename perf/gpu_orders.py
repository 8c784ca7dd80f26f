"""``python -m perf gpu-orders``: what the order of the vertices does to PageRank on a GPU, from the store.

    python -m perf gpu-strategies --store gpu.db --paper --orders --apps pagerank rmat:scale=18 web.txt
    python -m perf gpu-orders --store gpu.db --out perf/results/gpu_orders.txt --folder orders

Orders are those of perf/orders.py: by absolute, in- and out-degree, best and worst for warps. Operations are
the same in all of them, only what lies side by side differs. Times are relative to the unordered graph's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.command import exit_code, file_to_write
from gpop.common.errors import UsageError
from perf.graphs import ORDERED
from perf.orders import ORDERS, PESSIMAL, UNORDERED
from perf.paper_runs import PaperRuns, read_runs
from perf.paper_tables import markdown
from perf.parser import with_store
from perf.pictures import degree_orders
from perf.pictures.sheet import made
from perf.provenance import perf_command, written
from perf.store import Store

WALKS = (
    "edge-list", "struct-edge-list", "vertex-push", "vertex-pull", "vertex-pull-nodiv",
    "vertex-push-warp-16-64", "vertex-pull-warp-16-64",
)  # fmt: skip
"""Rows of the tables; who wins is asked of all."""

SLIGHT = 0.1
"""A change of time up to this is none."""


def by_graph(runs: PaperRuns) -> dict[str, np.ndarray]:
    """Graph -> seconds, [implementations, orders]; of those that were measured in all orders."""
    places: dict[str, dict[str, int]] = {}
    for place, variant in enumerate(runs.variants):
        graph, _, order = variant.graph.rpartition(ORDERED)
        places.setdefault(graph, {})[order] = place
    whole = {graph: known for graph, known in places.items() if set(known) == set(ORDERS)}
    if not whole:
        raise UsageError(f"no graph was measured in all of the orders {', '.join(ORDERS)}")
    return {graph: runs.seconds[:, [known[order] for order in ORDERS]] for graph, known in whole.items()}


def tables(runs: PaperRuns, graphs: dict[str, np.ndarray]) -> list[str]:
    """A table for each graph: milliseconds in the order it comes in, and the others over that."""
    parts = []
    for graph, seconds in graphs.items():
        rows = []
        for name in WALKS:
            times = seconds[runs.names.index(name)]
            ratios = (f"{ratio:.2f}" for ratio in times[1:] / times[0])
            rows.append([name, f"{1e3 * times[0]:.3f}", *ratios])
        parts += [f"{graph}:", markdown(["", f"{UNORDERED}, ms", *ORDERS[1:]], rows)]
    return parts


def sentences(runs: PaperRuns, graphs: dict[str, np.ndarray]) -> list[str]:
    """What the papers say about orders, and what is so here."""
    stacked = np.stack(list(graphs.values()))  # graphs, implementations, orders
    said = []
    for name in ("edge-list", "vertex-push", "vertex-pull"):
        times = stacked[:, runs.names.index(name)]
        spread = times.max(axis=1) / times.min(axis=1)
        most = int(spread.argmax())
        said.append(
            f"{name}: the slowest order takes {np.median(spread):.2f} times the time of the fastest (median "
            f"of {len(graphs)} graphs), at most {spread[most]:.2f} ({list(graphs)[most]})."
        )
    said.append("There, on actor-collaboration: push 433 to 1,257 ms, the edge list 433 to 455.")
    push = stacked[:, runs.names.index("vertex-push")]
    sorted_ratio = push[:, ORDERS.index("out-degree")] / push[:, 0]
    kept = np.abs(sorted_ratio - 1) <= SLIGHT
    said.append(
        f"Sorting by degree changes push by at most {SLIGHT:.0%} on {kept.mean():.0%} of the graphs (about "
        f"half there), makes it slower on {np.mean(sorted_ratio > 1 + SLIGHT):.0%}, "
        f"faster on {np.mean(sorted_ratio < 1 - SLIGHT):.0%}."
    )
    winners = stacked.argmin(axis=1)
    same = float(np.mean([len(set(each.tolist())) == 1 for each in winners]))
    said.append(
        f"The fastest of all {len(runs.names)} is the same in every order on {same:.0%} of the graphs."
    )
    worse = [
        float(
            np.exp(
                np.log(push[:, ORDERS.index(f"{degree}{PESSIMAL}")] / push[:, ORDERS.index(degree)]).mean()
            )
        )
        for degree in ("absolute", "in-degree", "out-degree")
    ]
    said.append(
        "Pessimal over best, push, geometric means: "
        + ", ".join(f"{degree} {ratio:.2f}" for degree, ratio in zip(ORDERS[1::2], worse, strict=True))
        + "."
    )
    return said


def _run(argv: list[str]) -> None:
    parser = with_store("gpu-orders", __doc__)
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write it there, too")
    parser.add_argument("--folder", type=Path, help="for a picture and an index")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        runs = read_runs(store, "pagerank", orders=True)
    graphs, words = by_graph(runs), perf_command("gpu-orders", argv)
    said = sentences(runs, graphs)
    with written(given.out, words):
        about = f"PageRank, {len(runs.names)} implementations, {runs.platform}, gpop {runs.version}."
        print("\n\n".join([f"{about} Times over those of the unordered graph.", *tables(runs, graphs)]))
        print("\n" + "\n".join(said))
    if given.folder is not None:
        sheet = degree_orders.OrderSheet(made(given.folder), words, runs.names, WALKS, graphs, said)
        sheet.draw([f"# {degree_orders.TITLE}", "", about, ""], {"orders": degree_orders.__name__})


def main(argv: list[str]) -> int:
    """Print and draw; returns the exit code."""
    return exit_code(lambda: _run(argv))
