"""Implementations of the papers on every graph, as colours: time over the fastest (Figs. 1, 4.1, 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gpop.learn.evaluate import Line
from perf.paper_runs import PaperRuns
from perf.paper_tables import lines
from perf.pictures.log_sheet import heat
from perf.pictures.sheet import Sheet
from perf.pictures.study import panels

HEADER = ["", "total", "mean", "within 2", "above 5", "above 20", "worst"]


class PaperSheet(Sheet):
    """``said``: sentences by algorithm."""

    def __init__(
        self, folder: Path, words: list[str], runs: dict[str, PaperRuns], said: dict[str, list[str]]
    ) -> None:
        super().__init__(folder, words)
        self.runs, self.said = runs, said

    def table(self, found: list[Line]) -> None:
        """All rows, as files."""
        cells = [
            [line.name, f"{line.total:.2f}", f"{line.mean:.2f}", *(f"{part:.0%}" for part in line[3:6])]
            + [f"{line.worst:.2f}"]
            for line in found
        ]
        self.save_table(HEADER, cells)


def of_graphs(runs: PaperRuns, optimum: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Graphs by family, and ratios to the optimum, [implementations, graphs], means over the roots."""
    graphs = list(dict.fromkeys(each.graph for each in sorted(runs.variants, key=lambda each: each.family)))
    ratio, names = runs.seconds / optimum, np.array([each.graph for each in runs.variants])
    return graphs, np.stack([ratio[:, names == graph].mean(axis=1) for graph in graphs], axis=1)


def drawn(algorithm: str, optimum: Callable[[PaperRuns], np.ndarray]) -> Callable[[PaperSheet], list[str]]:
    """A picture's ``draw``: rows in the order of their totals, columns in that of families."""

    def draw(sheet: PaperSheet) -> list[str]:
        runs = sheet.runs[algorithm]
        best = optimum(runs)
        found = lines(runs, best)
        order = [runs.names.index(line.name) for line in found if line.name in runs.names]
        graphs, ratio = of_graphs(runs, best)
        figure, ((panel,),) = panels(1, width=4 + 0.22 * len(graphs), height=3 + 0.16 * len(order))
        heat(figure, [panel], [ratio[order]], "time / optimum")
        panel.set_yticks(range(len(order)), [runs.names[place] for place in order], fontsize="x-small")
        panel.set_xticks(range(len(graphs)), graphs, fontsize="x-small", rotation=90)
        sheet.save(figure, runs.platform)
        sheet.table(found)
        return sheet.said[algorithm]

    return draw
