"""What the pictures of ``python -m perf plot`` are drawn from: the log of steps, and trees that predict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.errors import UsageError
from gpop.learn.evaluate import BEST_FIXED, ORACLE
from gpop.model.features import FEATURES
from gpop.model.trees import Tree
from perf.pictures.sheet import Sheet
from perf.pictures.study import called
from perf.pictures.variants import Reason, most_named, reasons
from perf.steps import Log

BASE_COLOUR = "#000000"
LEAST_TOP = 5.0
"""Of the scale of a heat map."""


class LogSheet(Sheet):
    """``most`` variants get bars; ``least`` are the vertices and edges that a graph has at least."""

    def __init__(
        self,
        folder: Path,
        words: list[str],
        log: Log,
        trees: dict[str, Tree] | None = None,
        most: int = 6,
        least: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(folder, words)
        self.log, self.most = log, most
        vertices, edges = (log.steps.features[:, FEATURES.index(name)] for name in ("vertices", "edges"))
        self.steps = log.steps.where((vertices >= least[0]) & (edges >= least[1]))
        if not len(self.steps):
            raise UsageError(f"no graph of the log has {least[0]} vertices and {least[1]} edges")
        self.trees = trees or {}
        clash = self.trees.keys() & {*self.steps.strategies, *self.steps.others, ORACLE, BEST_FIXED}
        if clash:
            raise UsageError(f"model {min(clash)!r}: expected another name than that of a strategy")

    @property
    def strategies(self) -> list[str]:
        """What the optimum is made of."""
        return list(self.steps.strategies)

    @cached_property
    def runs(self) -> np.ndarray:
        """Seconds of whole runs, [strategies, variants]."""
        return self.steps.per_variant(self.steps.seconds).T

    @cached_property
    def optimum(self) -> np.ndarray:
        """Seconds of each variant when the fastest strategy is taken in every step."""
        return self.steps.per_variant(self.steps.oracle)

    @cached_property
    def switching(self) -> dict[str, np.ndarray]:
        """Seconds of the steps under what switches by itself, and under trees."""
        predicted = {name: self.steps.predicted(tree) for name, tree in self.trees.items()}
        return {**self.steps.others, **predicted}

    @cached_property
    def beside(self) -> dict[str, np.ndarray]:
        """Seconds of whole runs of the strategies, of what switches, and of the best fixed strategy."""
        found = dict(zip(self.strategies, self.runs, strict=True))
        found |= {name: self.steps.per_variant(seconds) for name, seconds in self.switching.items()}
        return {**found, BEST_FIXED: self.steps.best_fixed()}

    @cached_property
    def reasons(self) -> list[Reason]:
        """What there is to choose variants by."""
        return reasons(self.strategies, self.runs, self.optimum, self.steps.best_fixed())

    @cached_property
    def chosen(self) -> list[int]:
        """Places of the variants that get bars."""
        return most_named(self.reasons, self.most)

    def name_of(self, variant: int) -> str:
        """Of the graph and of where the run began."""
        return self.log.variants[int(self.steps.variants[variant])]

    def label_of(self, variant: int) -> str:
        """The same as pictures write it."""
        graph, _, start = self.name_of(variant).rpartition(", ")
        return f"{called(graph)}, {start}"

    def colour(self, name: str) -> Any:
        """Of a bar; the same in all pictures."""
        from matplotlib import colormaps

        known = [*self.strategies, *self.switching]
        return colormaps["tab20"](known.index(name) % 20) if name in known else BASE_COLOUR

    def bars(self, panel: Any, values: dict[str, np.ndarray]) -> None:
        """Groups of bars side by side; one name is one colour."""
        width = 0.85 / len(values)
        for place, (name, heights) in enumerate(values.items()):
            places = np.arange(len(heights)) + (place - (len(values) - 1) / 2) * width
            panel.bar(places, heights, width, color=self.colour(name), label=name)

    def name_groups(self, axis: Any, variants: list[int]) -> None:
        """Variants below bars or columns."""
        names = [self.label_of(variant).replace(", ", "\n") for variant in variants]
        axis.set_ticks(range(len(names)), names, fontsize="small", rotation=45, ha="right")


def heat(figure: Any, panels: Sequence[Any], ratios: Sequence[np.ndarray], label: str) -> None:
    """Ratios as colours, by their logarithm and on one scale; those below 1 as 1, nan stays white."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

    top = max(LEAST_TOP, *(float(np.nanmax(each)) for each in ratios))
    scale = LogNorm(1, top, clip=True)
    for panel, each in zip(panels, ratios, strict=True):
        image = panel.imshow(each, aspect="auto", interpolation="nearest", cmap="viridis_r", norm=scale)
    bar = figure.colorbar(image, ax=panels, label=label, ticks=LogLocator(subs=(1, 2, 5)))
    bar.ax.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    bar.ax.yaxis.set_minor_locator(NullLocator())
