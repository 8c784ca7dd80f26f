"""Whole runs of chosen variants beside the optimum, which switches in every step (Figs. 4.4 and 7.2)."""

from __future__ import annotations

import numpy as np

from gpop.learn.evaluate import BEST_FIXED
from perf.pictures.log_sheet import BASE_COLOUR, LogSheet
from perf.pictures.study import legend_below, panels, plain_log

TITLE = "Beside the optimum (Figs. 4.4 and 7.2)"
PAPER = "Even who knows the best implementation of every graph leaves much of the performance on the table."


def draw(sheet: LogSheet) -> list[str]:
    """A group of bars for each variant, the optimum at 1."""
    ratios = {name: (run / sheet.optimum)[sheet.chosen] for name, run in sheet.beside.items()}
    figure, ((panel,),) = panels(1, width=3 + 1.3 * len(sheet.chosen), height=4.2)
    sheet.bars(panel, ratios)
    panel.axhline(1, color=BASE_COLOUR, linewidth=0.8)
    panel.set_yscale("log")
    plain_log(panel.yaxis)
    panel.set_ylabel("time / optimum")
    sheet.name_groups(panel.xaxis, sheet.chosen)
    legend_below(figure, panel)
    sheet.save(figure, sheet.log.platform)
    lost = sheet.beside[BEST_FIXED] / sheet.optimum
    most = int(np.argmax(lost))
    return [
        f"The best fixed strategy takes {np.median(lost):.2f} times the optimum's time (median of the "
        f"variants), at most {lost[most]:.2f} ({sheet.name_of(most)})."
    ]
