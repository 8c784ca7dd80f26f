"""Time of PageRank by the order of the vertices, a panel for each graph (Fig. 6.1 of the thesis)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from perf.orders import ORDERS
from perf.pictures.sheet import Sheet
from perf.pictures.study import legend_below, panels

TITLE = "Orders of the vertices (Fig. 6.1)"
PAPER = (
    "The same graph, with the same operations, takes 2 to 3 times as long in another order of its vertices "
    "where threads walk vertices, and as long as before where they walk edges."
)


class OrderSheet(Sheet):
    """``graphs``: seconds, [implementations, orders]; ``shown`` are the implementations that get a line."""

    def __init__(
        self,
        folder: Path,
        words: list[str],
        names: list[str],
        shown: Sequence[str],
        graphs: dict[str, np.ndarray],
        said: list[str],
    ) -> None:
        super().__init__(folder, words)
        self.names, self.shown, self.graphs, self.said = names, shown, graphs, said


def draw(sheet: OrderSheet) -> list[str]:
    """Times over those of the unordered graph."""
    figure, grid = panels(len(sheet.graphs), width=4.2, height=3.2)
    for panel, (graph, seconds) in zip(
        [each for row in grid for each in row], sheet.graphs.items(), strict=False
    ):
        for name in sheet.shown:
            times = seconds[sheet.names.index(name)]
            panel.plot(range(len(ORDERS)), times / times[0], marker="o", markersize=3, label=name)
        panel.set_title(graph, fontsize="small")
        panel.set_xticks(range(len(ORDERS)), ORDERS, fontsize="x-small", rotation=45, ha="right")
        panel.set_ylabel("time / unordered", fontsize="small")
        panel.set_ylim(bottom=0)
    legend_below(figure, grid[0][0])
    sheet.save(figure)
    rows = [
        [graph, name, *seconds[sheet.names.index(name)].tolist()]
        for graph, seconds in sheet.graphs.items()
        for name in sheet.shown
    ]
    sheet.save_table(["graph", "", *(f"{order}, s" for order in ORDERS)], rows)
    return sheet.said
