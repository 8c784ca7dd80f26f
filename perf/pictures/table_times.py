"""Table 3: time of every app on every graph, by gpop and by the peers that are installed."""

from __future__ import annotations

import statistics

from perf.pictures.plan import DEFAULT, MAIN
from perf.pictures.study import APPS, Study, ms

TITLE = "Execution time of gpop and peers, ms (Table 3)"
PAPER = (
    "PageRank is 6.3x (geometric mean over the graphs) as fast as Ligra, SSSP 3.5x, components 3.7x, Nibble "
    "2.1x; BFS loses to Ligra's direction-optimising one (0.83x)."
)


def draw(study: Study) -> list[str]:
    """Rows are implementations with their threads, columns graphs."""
    rows = [row for app in APPS for row in study.totals(dataset=MAIN, algorithm=app)]
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    table, said = {}, []
    for row in rows:
        table.setdefault((row["algorithm"], row["implementation"], row["threads"]), {})[row["graph"]] = row
    cells = [
        [*key, *(ms(by[graph]["medianTime"]) if graph in by else None for graph in graphs)]
        for key, by in table.items()
    ]
    study.save_table(["app", "implementation", "threads", *graphs], cells)
    for app in APPS:
        own = {row["graph"]: row["medianTime"] for row in rows
               if row["algorithm"] == app and row["implementation"] == DEFAULT}  # fmt: skip
        for (name, implementation, threads), by in table.items():
            if name != app or implementation.startswith("gpop"):
                continue
            ratios = [
                by[graph]["medianTime"] / own[graph] for graph in graphs if graph in by and graph in own
            ]
            if ratios:
                said.append(
                    f"{app}: {implementation} on {threads} threads takes "
                    f"{statistics.geometric_mean(ratios):.2f}x the time of gpop as it comes (geometric "
                    f"mean of {len(ratios)} graphs)."
                )
    return said or ["No peer is installed: only gpop's own modes are in the table."]
