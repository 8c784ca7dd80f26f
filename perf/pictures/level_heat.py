"""Steps of all variants as colours: each strategy beside the fastest of the step."""

from __future__ import annotations

import numpy as np

from perf.pictures.log_sheet import LogSheet, heat
from perf.pictures.study import panels

TITLE = "Heat map of steps"
PAPER = "The same as the bars of levels, for many variants (section 3.3.4)."
MOST_STEPS = 64
MOST_NAMES = 40
SLACK = 1.1


def ratios_of(sheet: LogSheet, seconds: np.ndarray) -> np.ndarray:
    """Times over the fastest of the step, [variants, steps]; nan where a variant has no such step."""
    steps = sheet.steps
    shown = steps.step < MOST_STEPS
    rows = np.searchsorted(steps.variants, steps.variant)
    found = np.full((len(steps.variants), int(steps.step[shown].max()) + 1), np.nan)
    found[rows[shown], steps.step[shown]] = (seconds / steps.oracle)[shown]
    return found


def draw(sheet: LogSheet) -> list[str]:
    """A panel for each strategy and for what switches: a row for each variant, a column for each step."""
    each = dict(zip(sheet.strategies, sheet.steps.seconds.T, strict=True)) | sheet.switching
    count = len(sheet.steps.variants)
    figure, axes = panels(len(each), width=2.6, height=min(1.8 + 0.25 * count, 9))
    ratios = [ratios_of(sheet, seconds) for seconds in each.values()]
    heat(figure, axes[0], ratios, "time / fastest of the step")
    said = []
    for panel, (name, seconds) in zip(axes[0], each.items(), strict=True):
        panel.set(title=name, xlabel="step")
        panel.set_yticks([])
        share = np.mean(seconds <= SLACK * sheet.steps.oracle)
        said.append(
            f"{name} is within {SLACK} times the fastest strategy in {share:.0%} of {len(seconds)} steps."
        )
    if count <= MOST_NAMES:
        axes[0][0].set_yticks(range(count), [sheet.label_of(v) for v in range(count)], fontsize="small")
    else:
        axes[0][0].set_ylabel("variant")
    sheet.save(figure, sheet.log.platform)
    left = int((sheet.steps.step >= MOST_STEPS).sum())
    return said + ([f"{left} steps beyond the first {MOST_STEPS} are not shown."] if left else [])
