"""What a picture gets: the plan, the results that the store has for it, and where its files go.

Numbers that are no times of runs (cache misses, bandwidth) are measured when they are first asked for and
kept as JSON beside the store, so that a rerun of the command only draws.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.replacing import replacing
from perf.hardware import platform_name
from perf.implementations import gpop_version
from perf.pictures.plan import Plan
from perf.store import Row, Store

COLOURS = {"gpop-sc": "#d95f02", "gpop-pc": "#1b9e77", "gpop-auto": "#3953a4", "other": "#888888"}
NAMES = {"gpop-sc": "SC", "gpop-pc": "PC", "gpop-auto": "dual"}
APPS = ("pagerank", "bfs", "sssp", "cc", "nibble")
DPI = 90


class Study:
    """Results in, files out; ``name`` is the picture being drawn."""

    def __init__(self, plan: Plan, store: Store, folder: Path) -> None:
        self.plan, self.store, self.folder = plan, store, folder
        self.name = ""
        self.files: list[str] = []

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

    def measured(self, name: str, key: dict[str, Any], measure: Callable[[], Any]) -> Any:
        """A plain value that is kept: measured anew when ``key``, the machine or the code has changed."""
        key = {"code": gpop_version(), "platform": platform_name(), **key}
        path = self.folder / "measured" / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["key"] == json.loads(json.dumps(key)):
                return kept["value"]
        value = json.loads(json.dumps(measure()))
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps({"key": key, "value": value}, indent=1) + "\n")
        return value

    def save(self, figure: Any) -> None:
        """Write the picture."""
        with replacing(self.folder / f"{self.name}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=DPI)
        self.files.append(f"{self.name}.png")

    def save_table(self, header: list[str], rows: list[list[Any]]) -> None:
        """Write a table as CSV and as Markdown."""
        texts = [[_cell(value) for value in row] for row in rows]
        path = self.folder / f"{self.name}.csv"
        with replacing(path) as temporary, temporary.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        lines = [header, ["---"] * len(header), *texts]
        with replacing(self.folder / f"{self.name}.md") as temporary:
            temporary.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
        self.files += [f"{self.name}.md", f"{self.name}.csv"]


def _cell(value: Any) -> str:
    """Four digits of a number.

    >>> _cell(12.34567), _cell(None), _cell("a")
    ('12.35', '-', 'a')
    """
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def panels(columns: int, rows: int = 1, width: float = 3.1, height: float = 2.9):
    """A figure and its axes (in one row or a grid)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def plain_log(axis: Any) -> None:
    """Ticks of a logarithmic axis as plain numbers, some even where it spans less than a decade."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if not np.isfinite(axis.get_data_interval()).all():  # every run failed: nothing to scale by
        getattr(axis.axes, f"set_{axis.axis_name}scale")("linear")
        return
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())


def whole_numbers(axis: Any) -> None:
    """Ticks of an axis that counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=7, integer=True))


def legend_below(figure: Any, axes: Any) -> None:
    """One legend for all panels, under them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6), frameon=False)


def ms(seconds: float) -> float:
    return 1e3 * seconds
