"""Part of ``python -m perf model-study``: trees on data sets, and on devices, that they were not trained on.

Cells are times over the oracle's. Across data sets (M. Verstraaten's thesis, chapter 8) a tree of one family
of graphs is asked about each of the others, and about all of them together. Across devices trees of a share
of the variants, or of the steps, of one log are asked about the logs of the same algorithm that were measured
elsewhere: a CPU, a GPU. In their own log they are asked about what they were not trained on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.learn.evaluate import BEST_FIXED
from gpop.learn.split import Split
from gpop.learn.steps import Steps
from gpop.learn.train import train
from gpop.model.trees import Tree
from perf.steps import Log

SHARES = (0.6, 0.7, 0.8)
OTHERS = "all others"


def markdown(rows: list[tuple[str, ...]]) -> str:
    """A table: the first row is its head, the first column says what the rows are."""
    rule = ("---", *("---:",) * (len(rows[0]) - 1))
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def total(steps: Steps, tree: Tree) -> float:
    """Of a tree, over the oracle's."""
    return float(steps.predicted(tree).sum() / steps.oracle.sum())


def across_families(steps: Steps, **options: Any) -> str:
    """A row for each family that a tree was trained on, a column for each that it was asked about."""
    families = [str(family) for family in np.unique(steps.family)]
    rows = [("trained on", *families, OTHERS)]
    for family in families:
        inside = steps.family == family
        tree = train(steps.where(inside), **options)
        cells = [
            "" if other == family else f"{total(steps.where(steps.family == other), tree):.2f}"
            for other in families
        ]
        rows.append((family, *cells, f"{total(steps.where(~inside), tree):.2f}"))
    rows += _beside([steps.where(steps.family == family) for family in families] + [steps])
    return markdown(rows)


def _beside(columns: list[Steps]) -> list[tuple[str, ...]]:
    """Rows of auto, where all have it, and of the best fixed strategy of each variant."""
    rows = []
    if all("auto" in steps.others for steps in columns):
        rows.append(
            ("auto", *(f"{steps.others['auto'].sum() / steps.oracle.sum():.2f}" for steps in columns))
        )
    fixed = (f"{steps.best_fixed().sum() / steps.oracle.sum():.2f}" for steps in columns)
    return [*rows, (BEST_FIXED, *fixed)]


def device_of(log: Log) -> str:
    """What a log was measured on."""
    return f"{log.target}, {log.platform}"


def across_devices(logs: list[Log], **options: Any) -> tuple[str, str]:
    """The table of logs of one algorithm and the same strategies, and what follows from it.

    A row for each share of a log that a tree was trained on, a column for each log.
    """
    names = [device_of(log) for log in logs]
    rows = [("trained on", *names)]
    foreign: list[float] = []
    fixed = [log.steps.best_fixed().sum() / log.steps.oracle.sum() for log in logs]
    better = 0
    for log in logs:
        for kind in ("variants", "steps"):
            for share in SHARES:
                chosen = Split(steps=1.0)._replace(**{kind: share}).of(log.steps)
                tree = train(log.steps.where(chosen), **options)
                cells = [
                    total(other.steps.where(~chosen) if other is log else other.steps, tree) for other in logs
                ]
                rows.append((f"{device_of(log)}, {share:.0%} of {kind}", *(f"{cell:.2f}" for cell in cells)))
                for cell, other, best in zip(cells, logs, fixed, strict=True):
                    if other is not log:
                        foreign.append(cell)
                        better += cell < best
    rows += _beside([log.steps for log in logs])
    said = (
        f"Trees of another log take {min(foreign):.2f} to {max(foreign):.2f} of the oracle's time; "
        f"{better} of {len(foreign)} are better than the best fixed strategy of every variant."
    )
    return markdown(rows), said
