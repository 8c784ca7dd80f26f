"""Whole runs of chosen variants, the slowest at 100 % (Figs. 4.1 and 4.2)."""

from __future__ import annotations

from perf.pictures.log_sheet import LogSheet
from perf.pictures.study import legend_below, panels

TITLE = "Whole runs (Fig. 4.2)"
PAPER = (
    "No implementation is the best everywhere, and within a graph the slowest may take 10 to 100 times the "
    "time of the fastest."
)


def draw(sheet: LogSheet) -> list[str]:
    """A group of bars for each variant."""
    runs = sheet.runs[:, sheet.chosen]
    figure, ((panel,),) = panels(1, width=3 + 1.1 * len(sheet.chosen), height=4.2)
    sheet.bars(panel, dict(zip(sheet.strategies, 100 * runs / runs.max(axis=0), strict=True)))
    panel.set_ylabel("time, % of the slowest")
    sheet.name_groups(panel.xaxis, sheet.chosen)
    legend_below(figure, panel)
    sheet.save(figure, sheet.log.platform)
    best = sheet.runs.argmin(axis=0)
    wins = [f"{name} in {int((best == place).sum())}" for place, name in enumerate(sheet.strategies)]
    ratio = sheet.runs.max(axis=0) / sheet.runs.min(axis=0)
    return [
        f"Of {len(best)} variants the fastest is {', '.join(wins)}.",
        f"The slowest takes {ratio.min():.1f} to {ratio.max():.1f} times the time of the fastest.",
    ]
