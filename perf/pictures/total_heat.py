"""Whole runs of all variants as colours: strategies, what switches, and trees that predict."""

from __future__ import annotations

import numpy as np

from perf.pictures.log_sheet import LogSheet, heat
from perf.pictures.study import panels

TITLE = "Heat map of whole runs"
PAPER = "The same as the bars, for many variants and predictors at a glance (section 3.3.4)."
MOST_NAMES = 40


def draw(sheet: LogSheet) -> list[str]:
    """A row for each strategy, a column for each variant, in the order of the log."""
    ratios = np.array([run / sheet.optimum for run in sheet.beside.values()])
    count = ratios.shape[1]
    figure, ((panel,),) = panels(1, width=min(4 + 0.3 * count, 14), height=1.8 + 0.3 * len(ratios))
    heat(figure, [panel], [ratios], "time / optimum")
    panel.set_yticks(range(len(ratios)), list(sheet.beside))
    if count <= MOST_NAMES:
        sheet.name_groups(panel.xaxis, list(range(count)))
    else:
        panel.set_xlabel("variant")
    sheet.save(figure, sheet.log.platform)
    worst = ratios.max(axis=1)
    return [
        f"{name}: at most {top:.2f} times the optimum's time, in {sheet.name_of(int(row.argmax()))}."
        for name, top, row in zip(sheet.beside, worst, ratios, strict=True)
    ]
