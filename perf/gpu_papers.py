"""``python -m perf gpu-papers``: tables of two papers about ways to walk neighbours on a GPU, from the store.

    python -m perf gpu-strategies --store gpu.db --paper --real FOLDER --roots 4
    python -m perf gpu-papers --store gpu.db --out perf/results/gpu_papers.txt
    python -m perf gpu-papers --store gpu.db --folder papers           # all 75 rows as Markdown, CSV, LaTeX

Nothing is run. Times are sums over iterations, relative to the fastest implementation of every variant (a
graph and a root), or of every iteration; only variants count that all implementations were measured on. Then
what the papers found and whether it is so here, and what time-outs there were.
"""

from __future__ import annotations

from pathlib import Path

from gpop.common.command import exit_code
from gpop.learn.evaluate import Line, table
from perf import paper_claims
from perf.paper_runs import PaperRuns, read_runs
from perf.paper_tables import counting, families, iterations_won, lines, of_walks
from perf.parser import with_store
from perf.pictures.sheet import Sheet, made
from perf.provenance import perf_command, written
from perf.store import Store

HEADER = ["", "total", "mean", "within 2", "above 5", "above 20", "worst"]


def told(runs: PaperRuns) -> str:
    """What the tables are of."""
    graphs = len({each.graph for each in runs.variants})
    late = sum(runs.late.values())
    parts = [
        f"{len(runs.names)} implementations on {graphs} graphs, {len(runs.variants)} variants, "
        f"{sum(each.steps for each in runs.variants)} iterations each; {runs.platform}, gpop {runs.version}.",
        f"Loops take {runs.beside:.2f} times the time of their iterations; {runs.unsure:.0%} of the time is "
        "in iterations with a relative standard error above 5 %.",
    ]
    if runs.left_out:
        parts.append(f"{runs.left_out} variants lack some implementation and are left out.")
    if late:
        where = ", ".join(sorted({graph for _, graph in runs.late}))
        parts.append(f"{late} runs of {len(runs.late)} series were not done in time, on {where}.")
    return " ".join(parts)


def bfs(runs: PaperRuns) -> list[str]:
    """Tables 4.5 and 4.6, and what the papers say."""
    switching, whole = lines(runs, runs.optimum), lines(runs, runs.best)
    return [
        "BFS. " + told(runs),
        "Over the optimum that switches in every level (table 4.6); of each walk its best way to count:",
        table(of_walks(switching)),
        "Over the best whole run of each variant (table 4.5):",
        table(of_walks(whole)),
        "Families of graphs:",
        families(runs),
        "Ways to count the next frontier:",
        counting(runs),
        "Iterations in which a walk is the fastest:",
        iterations_won(runs),
        "\n".join(
            [
                paper_claims.switching(switching),
                paper_claims.order("BFS (table 4.5)", paper_claims.TABLE_4_5, whole),
            ]
        ),
    ]


def pagerank(runs: PaperRuns) -> list[str]:
    """Table 4.4, and what the papers say."""
    whole = lines(runs, runs.best)
    return [
        "PageRank. " + told(runs),
        "Over the best of each graph (table 4.4):",
        table(whole),
        "Families of graphs:",
        families(runs),
        "\n".join(
            [
                paper_claims.order("PageRank (table 4.4)", paper_claims.TABLE_4_4, whole),
                *(
                    claim(runs)
                    for claim in (
                        paper_claims.constant_degree,
                        paper_claims.roads,
                        paper_claims.star,
                        paper_claims.edge_based,
                        paper_claims.structs,
                        paper_claims.warps,
                    )
                ),
            ]
        ),
    ]


def _files(sheet: Sheet, name: str, found: list[Line]) -> None:
    rows = [
        [line.name, f"{line.total:.2f}", f"{line.mean:.2f}", *(f"{part:.0%}" for part in line[3:6])]
        + [f"{line.worst:.2f}"]
        for line in found
    ]
    sheet.name = name
    sheet.save_table(HEADER, rows)


def _run(argv: list[str]) -> None:
    parser = with_store("gpu-papers", __doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there, too")
    parser.add_argument("--folder", type=Path, help="for tables of all implementations")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        of_bfs, of_ranks = read_runs(store, "bfs"), read_runs(store, "pagerank")
    words = perf_command("gpu-papers", argv)
    with written(given.out, words):
        print("\n\n".join([*bfs(of_bfs), *pagerank(of_ranks)]))
    if given.folder is not None:
        sheet = Sheet(made(given.folder), words)
        _files(sheet, "bfs-levels", lines(of_bfs, of_bfs.optimum))
        _files(sheet, "bfs-runs", lines(of_bfs, of_bfs.best))
        _files(sheet, "pagerank", lines(of_ranks, of_ranks.best))


def main(argv: list[str]) -> int:
    """Print the tables; returns the exit code."""
    return exit_code(lambda: _run(argv))
