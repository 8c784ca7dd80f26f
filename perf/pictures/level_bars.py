"""Times of each step of chosen variants (Fig. 4.3)."""

from __future__ import annotations

import numpy as np

from perf.pictures.log_sheet import LogSheet
from perf.pictures.study import legend_below, ms, panels, plain_log, whole_numbers

TITLE = "Steps (Fig. 4.3)"
PAPER = "The fastest implementation of a level is seldom that of the next, and the differences are large."
MOST_BARS = 24
"""Steps that are shown as bars; of more there are lines."""
COLUMNS = 3


def draw(sheet: LogSheet) -> list[str]:
    """A panel for each variant."""
    rows = -(-len(sheet.chosen) // COLUMNS)
    columns = min(len(sheet.chosen), COLUMNS)
    figure, axes = panels(columns, rows, width=3.8, height=3.2)
    for panel in axes.flat[len(sheet.chosen) :]:
        panel.set_axis_off()
    for panel, variant in zip(axes.flat, sheet.chosen, strict=False):
        chosen = sheet.steps.where(sheet.steps.variant == sheet.steps.variants[variant])
        each = dict(zip(sheet.strategies, ms(chosen.seconds.T), strict=True))
        if len(chosen) <= MOST_BARS:
            sheet.bars(panel, each)
            panel.set_xticks(range(len(chosen)), chosen.step.tolist(), fontsize="small")
        else:
            for name, times in each.items():
                panel.plot(chosen.step, times, linewidth=0.8, color=sheet.colour(name), label=name)
            whole_numbers(panel.xaxis)
        panel.set_yscale("log")
        plain_log(panel.yaxis)
        panel.set_title(sheet.label_of(variant), fontsize="small")
        panel.set_xlabel("step")
    for row in axes:
        row[0].set_ylabel("time, ms (median)")
    legend_below(figure, axes.flat[0])
    sheet.save(figure, sheet.log.platform)
    return [sentence(sheet)]


def sentence(sheet: LogSheet) -> str:
    """How often the fastest strategy is another one than in the step before, over all variants."""
    follows = sheet.steps.variant[1:] == sheet.steps.variant[:-1]
    changes = (sheet.steps.fastest[1:] != sheet.steps.fastest[:-1]) & follows
    switched = np.unique(sheet.steps.variant[1:][changes]).size
    return (
        f"The fastest strategy of a step is another one than in the step before in {int(changes.sum())} "
        f"of {int(follows.sum())} steps, and in {switched} of {len(sheet.steps.variants)} variants at least "
        f"once."
    )
