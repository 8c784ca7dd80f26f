"""``python -m perf workload``: models of PageRank's workload beside what is counted and what is measured.

    python -m perf gpu-strategies --store gpu.db --paper --real FOLDER
    python -m perf workload --store gpu.db --out perf/results/workload.txt

Operations that each model (perf/workload) predicts for an iteration, and those its pseudocode counts, on a
small graph. Then, from the store, how the order of implementations by a model stands to that by time
on every graph (Kendall's tau, Spearman's rho), and what choosing by it costs. No device is needed.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from scipy.stats import kendalltau, spearmanr

from gpop.common.command import exit_code, file_to_write
from gpop.learn.evaluate import line_of, table
from perf.graphs import open_graph
from perf.paper_runs import PaperRuns, read_runs
from perf.paper_tables import BEST_NON_SWITCHING, markdown
from perf.parser import with_store
from perf.provenance import perf_command, written
from perf.store import Store
from perf.workload import MODELS, chosen, kernel_of, model_named, operations, total
from perf.workload.pseudocode import counted

SMALL = "rmat:scale=8"
REPRESENTATIVE = {
    "edge": "edge-list", "push": "vertex-push", "pull": "vertex-pull", "nodiv": "vertex-pull-nodiv",
}  # fmt: skip
"""What is run when a model chooses a walk."""

SIZES = """
SELECT v.graphId AS graphId, q.property AS property, v.value AS value FROM GraphPropValue v
JOIN PropertyName q ON q.id = v.propId WHERE q.property IN ('vertices', 'edges')
"""


def counts(spec: str = SMALL) -> str:
    """Predicted and counted operations of all models and walks."""
    graph, rows = open_graph(spec), []
    for name in MODELS:
        model = model_named(name)
        for kernel in model.KERNELS:
            predicted, found = total(model, kernel).of(graph.n, graph.m), counted(model, kernel, graph)
            texts = [f"{float(p):g} / {float(f):g}" for p, f in zip(predicted, found, strict=True)]
            rows.append([name, kernel, *texts, "yes" if predicted == found else "no"])
    return markdown(["model", "walk", "reads", "writes", "atomics", "the same"], rows)


def sizes_of(store: Store, runs: PaperRuns) -> list[tuple[int, int]]:
    """Vertices and edges of the graph of every variant."""
    known: dict[int, dict[str, int]] = {}
    for row in store.rows(SIZES):
        known.setdefault(row["graphId"], {})[row["property"]] = int(row["value"])
    return [(known[each.graph_id]["vertices"], known[each.graph_id]["edges"]) for each in runs.variants]


def correlations(model: ModuleType, runs: PaperRuns, sizes: list[tuple[int, int]]) -> np.ndarray:
    """Kendall's tau and Spearman's rho of every graph, [2, graphs]: by operations and by time."""
    found = []
    for place, size in enumerate(sizes):
        predicted = [operations(model, kernel_of(name), *size) for name in runs.names]
        measured = runs.seconds[:, place]
        found.append([kendalltau(predicted, measured).statistic, spearmanr(predicted, measured).statistic])
    return np.array(found).T


def by_chooser(runs: PaperRuns, sizes: list[tuple[int, int]]) -> str:
    """What it costs to choose by a model, beside always taking one walk."""
    found = {name: runs.of(name) for name in REPRESENTATIVE.values()} | {BEST_NON_SWITCHING: runs.best}
    for name in MODELS:
        model = model_named(name)
        walks = [REPRESENTATIVE[chosen(model, *size)] for size in sizes]
        found[f"chosen by {name}"] = np.array([runs.of(walk)[at] for at, walk in enumerate(walks)])
    rows = [line_of(name, seconds, runs.best) for name, seconds in found.items()]
    return table(sorted(rows, key=lambda line: line.total))


def by_graph(runs: PaperRuns, sizes: list[tuple[int, int]]) -> str:
    """Every graph: tau of each model, and places of the four walks by operations and by time."""
    taus = [correlations(model_named(name), runs, sizes)[0] for name in MODELS]
    model, rows = model_named("thesis, concrete"), []
    walks = list(REPRESENTATIVE)
    for place, (variant, size) in enumerate(zip(runs.variants, sizes, strict=True)):
        by_work = sorted(walks, key=lambda walk: operations(model, walk, *size))
        by_time = sorted(walks, key=lambda walk: runs.of(REPRESENTATIVE[walk])[place])
        cells = [f"{tau[place]:.2f}" for tau in taus]
        rows.append([variant.graph, variant.family, *cells, " ".join(by_work), " ".join(by_time)])
    return markdown(["graph", "family", *MODELS, "by work (concrete)", "by time"], rows)


def sentences(runs: PaperRuns, sizes: list[tuple[int, int]]) -> list[str]:
    """The claims of the thesis (T-129), with what is found here."""
    said: list[str] = []
    edge = runs.of("edge-list")
    others = np.array([runs.of(name) for walk, name in REPRESENTATIVE.items() if walk != "edge"])
    first = float(np.mean(edge < others.min(axis=0)))
    for name in MODELS:
        model = model_named(name)
        work = [{walk: operations(model, walk, *size) for walk in REPRESENTATIVE} for size in sizes]
        last = np.mean([max(each, key=each.__getitem__) == "edge" for each in work])
        tau, rho = correlations(model, runs, sizes)
        said.append(
            f"{name}: the edge list has the most operations on {last:.0%} of the graphs, and is the fastest "
            f"of the four walks on {first:.0%}; all by operations and by time: tau {tau.mean():.2f}, rho "
            f"{rho.mean():.2f} on average, tau above .6 on {np.mean(tau > 0.6):.0%} of the graphs."
        )
    return said


def _run(argv: list[str]) -> None:
    parser = with_store("workload", __doc__)
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write it there, too")
    given: Any = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        runs = read_runs(store, "pagerank")
        sizes = sizes_of(store, runs)
    parts = [
        f"Operations of an iteration on {SMALL}, predicted / counted:",
        counts(),
        f"Times over the best of 19 on {len(runs.variants)} graphs, {runs.platform}, gpop {runs.version}:",
        by_chooser(runs, sizes),
        "\n".join(sentences(runs, sizes)),
        "Kendall's tau between all implementations by operations and by time; the four walks, least first:",
        by_graph(runs, sizes),
    ]
    with written(given.out, perf_command("workload", argv)):
        print("\n\n".join(parts))


def main(argv: list[str]) -> int:
    """Print the report; returns the exit code."""
    return exit_code(lambda: _run(argv))
