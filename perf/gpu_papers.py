"""``python -m perf gpu-papers``: tables of two papers about ways to walk neighbours on a GPU, from the store.

    python -m perf gpu-strategies --store gpu.db --paper --real FOLDER --roots 4
    python -m perf gpu-papers --store gpu.db --out perf/results/gpu_papers.txt
    python -m perf gpu-papers --store gpu.db --folder papers           # all 75 rows, pictures, an index

Nothing is run. Times are sums over iterations, relative to the fastest implementation of every variant (a
graph and a root), or of every iteration; only variants count that all implementations were measured on. Then
what the papers found and whether it is so here, and what time-outs there were.
"""

from __future__ import annotations

from pathlib import Path

from gpop.common.command import exit_code, file_to_write
from gpop.learn.evaluate import table
from perf import paper_claims
from perf.paper_runs import PaperRuns, read_runs
from perf.paper_tables import counting, families, iterations_won, lines, of_walks
from perf.parser import with_store
from perf.pictures.paper_heat import PaperSheet
from perf.pictures.sheet import made
from perf.provenance import perf_command, written
from perf.store import Store

PICTURES = {"bfs-levels": "perf.pictures.paper_bfs", "pagerank": "perf.pictures.paper_ranks"}


def told(runs: PaperRuns) -> str:
    """What the tables are of."""
    graphs = len({each.graph for each in runs.variants})
    late = sum(runs.late.values())
    parts = [
        f"{len(runs.names)} implementations on {graphs} graphs, {len(runs.variants)} variants, "
        f"{sum(each.steps for each in runs.variants)} iterations each; {runs.platform}, gpop {runs.version}.",
        f"Loops take {runs.beside:.2f} times the time of their iterations. {runs.once:.0%} of the time was "
        f"measured once, {runs.unsure:.1%} with a relative standard error above 5 %.",
    ]
    if runs.left_out:
        parts.append(f"{runs.left_out} variants lack some implementation and are left out.")
    if late:
        where = ", ".join(sorted({graph for _, graph in runs.late}))
        parts.append(f"{late} runs of {len(runs.late)} series were not done in time, on {where}.")
    return " ".join(parts)


def claims(runs: dict[str, PaperRuns]) -> dict[str, list[str]]:
    """What the papers say and what is so here, by algorithm."""
    of_bfs, of_ranks = runs["bfs"], runs["pagerank"]
    whole = lines(of_ranks, of_ranks.best)
    return {
        "bfs": [
            paper_claims.switching(lines(of_bfs, of_bfs.optimum)),
            paper_claims.lanes(of_bfs),
            paper_claims.order("BFS (table 4.5)", paper_claims.TABLE_4_5, lines(of_bfs, of_bfs.best)),
        ],
        "pagerank": [
            paper_claims.order("PageRank (table 4.4)", paper_claims.TABLE_4_4, whole),
            *(claim(of_ranks) for claim in paper_claims.OF_PAGERANK),
        ],
    }


def bfs(runs: PaperRuns) -> list[str]:
    """Tables 4.5 and 4.6, and more of the same runs."""
    return [
        "BFS. " + told(runs),
        "Over the optimum that switches in every level (table 4.6); of each walk its best way to count:",
        table(of_walks(lines(runs, runs.optimum))),
        "Over the best whole run of each variant (table 4.5):",
        table(of_walks(lines(runs, runs.best))),
        "Families of graphs:",
        families(runs),
        "Ways to count the next frontier:",
        counting(runs),
        "Iterations in which a walk is the fastest:",
        iterations_won(runs),
    ]


def pagerank(runs: PaperRuns) -> list[str]:
    """Table 4.4."""
    return [
        "PageRank. " + told(runs),
        "Over the best of each graph (table 4.4):",
        table(lines(runs, runs.best)),
        "Families of graphs:",
        families(runs),
    ]


def _run(argv: list[str]) -> None:
    parser = with_store("gpu-papers", __doc__)
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write it there, too")
    parser.add_argument("--folder", type=Path, help="for all rows as tables, pictures and an index")
    given = parser.parse_args(argv)
    with Store(given.store, create=False) as store:
        runs = {algorithm: read_runs(store, algorithm) for algorithm in ("bfs", "pagerank")}
    words, said = perf_command("gpu-papers", argv), claims(runs)
    parts = [*bfs(runs["bfs"]), "\n".join(said["bfs"])]
    parts += [*pagerank(runs["pagerank"]), "\n".join(said["pagerank"])]
    with written(given.out, words):
        print("\n\n".join(parts))
    if given.folder is not None:
        sheet = PaperSheet(made(given.folder), words, runs, said)
        about = [f"- {each}: {told(runs[each])}" for each in runs]
        sheet.draw(["# Ways to walk neighbours on a GPU", "", *about, ""], PICTURES)


def main(argv: list[str]) -> int:
    """Print the tables; returns the exit code."""
    return exit_code(lambda: _run(argv))
