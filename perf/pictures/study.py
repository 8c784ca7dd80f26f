"""What a picture gets: the plan, the results that the store has for it, and where its files go.

Numbers that are no times of runs (cache misses, bandwidth) are measured when they are first asked for and
kept beside the store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.pictures.plan import Plan
from perf.pictures.sheet import Sheet
from perf.store import Row, Store

COLOURS = {"gpop-sc": "#d95f02", "gpop-pc": "#1b9e77", "gpop-auto": "#3953a4", "other": "#888888"}
NAMES = {"gpop-sc": "SC", "gpop-pc": "PC", "gpop-auto": "dual"}
APPS = ("pagerank", "bfs", "sssp", "cc", "nibble")
LEAST_TICKS = 3
"""On an axis: with fewer, nothing between them can be read."""


class Study(Sheet):
    """Results in, files out."""

    def __init__(self, plan: Plan, store: Store, folder: Path, words: list[str]) -> None:
        super().__init__(folder, words)
        self.plan, self.store = plan, store

    def _rows(self, view: str, where: dict[str, Any]) -> list[Row]:
        """Rows of a view of the store, of this machine and this version of gpop."""
        conditions = "".join(f" AND {column} = :{column}" for column in where)
        mine = "SELECT runId FROM RunName WHERE platform = :platform AND algorithmVersion = :code"
        values = {"platform": platform_name(), "code": gpop_version(), **where}
        return self.store.rows(f"SELECT * FROM {view} WHERE runId IN ({mine}){conditions}", values)

    def totals(self, **where: Any) -> list[Row]:
        """Whole runs, see the view ``Result``."""
        return self._rows("Result", {"timer": "computation", **where})

    def steps(self, **where: Any) -> list[Row]:
        """Times of iterations in order, see the view ``StepResult``."""
        return sorted(self._rows("StepResult", {"timer": "iteration", **where}), key=lambda row: row["step"])

    def values(self, **where: Any) -> list[Row]:
        """What the trace says of iterations in order, see the view ``StepValue``."""
        return sorted(self._rows("StepValue", where), key=lambda row: row["step"])

    @property
    def main_graph(self) -> str:
        """What pictures of one graph call theirs."""
        return called(self.plan.main)


def power(exponent: int | str) -> str:
    """A power of two as pictures write it.

    >>> power(12)
    '$2^{12}$'
    """
    return f"$2^{{{exponent}}}$"


def called(graph: str) -> str:
    """Name of a graph in a picture: sizes that are powers of two as such.

    >>> called("rmat-scale14-degree16"), called("road-width128-height128")
    ('rmat $2^{14}$ degree 16', 'road width 128 height 128')
    """
    parts = re.findall(r"[a-z_]+|[\d.]+|[^-]", graph)
    words = " ".join(parts)
    return re.sub(r"scale (\d+)", lambda found: power(found[1]), words)


def panels(columns: int, rows: int = 1, width: float = 3.1, height: float = 2.9):
    """A figure and its axes (in one row or a grid)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def plain_log(axis: Any) -> None:
    """Ticks of a logarithmic axis as plain numbers, some even where it spans less than a decade."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullLocator

    if not np.isfinite(axis.get_data_interval()).all():  # every run failed: nothing to scale by
        getattr(axis.axes, f"set_{axis.axis_name}scale")("linear")
        return
    low, high = axis.get_view_interval()
    candidates = [LogLocator(subs=subs) for subs in ((1,), (1, 2, 5), range(1, 10))]
    for locator in (*candidates, MaxNLocator(5)):
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) >= LEAST_TICKS:
            break
    axis.set_major_locator(locator)
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_locator(NullLocator())


def whole_numbers(axis: Any) -> None:
    """Ticks of an axis that counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=7, integer=True))


def legend_below(figure: Any, axes: Any) -> None:
    """One legend for all panels, under them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False)


def curve(panel: Any, places: Sequence[float], rows: Sequence[Row], **style: Any) -> None:
    """Medians of timers in ms over these places, with bars from the fastest to the slowest run."""
    middle = np.array([ms(row["medianTime"]) for row in rows])
    below = middle - [ms(row["minTime"]) for row in rows]
    above = np.array([ms(row["maxTime"]) for row in rows]) - middle
    panel.errorbar(places, middle, yerr=[below, above], marker="o", markersize=4, capsize=2, **style)


def ms(seconds: Any) -> Any:
    """Of a number or an array."""
    return 1e3 * seconds
