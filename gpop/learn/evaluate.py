"""How well strategies and trees do: their times over those of the oracle, per variant and over all.

Columns as in M. Verstraaten's thesis (T-91 to T-93): ``total`` is the sum of all times over that of the
oracle, ``mean`` the mean of the variants' ratios, ``within 2`` the share of variants below twice the oracle,
``above 5`` and ``above 20`` the shares beyond those, ``worst`` the largest ratio.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.learn.steps import Steps
from gpop.model.trees import Tree

ORACLE, BEST_FIXED, TREE = "oracle", "best fixed", "tree"


class Line(NamedTuple):
    """One row of the table."""

    name: str
    total: float
    mean: float
    within_2: float
    above_5: float
    above_20: float
    worst: float


def line_of(name: str, seconds: np.ndarray, optimum: np.ndarray) -> Line:
    """The row of what took these seconds in every variant.

    Examples
    --------
    >>> line_of("A", np.array([100.0, 300.0]), np.array([100.0, 100.0]))
    Line(name='A', total=2.0, mean=2.0, within_2=0.5, above_5=0.0, above_20=0.0, worst=3.0)
    """
    ratio = seconds / optimum
    shares = ((ratio < 2).mean(), (ratio > 5).mean(), (ratio > 20).mean())
    numbers = seconds.sum() / optimum.sum(), ratio.mean(), *shares, ratio.max()
    return Line(name, *map(float, numbers))


def evaluate(
    steps: Steps, trees: dict[str, Tree] | None = None, predicted: dict[str, np.ndarray] | None = None,
    relative_to: str = ORACLE,
) -> list[Line]:  # fmt: skip
    """A row for the oracle, the best fixed strategy of each variant, every tree and strategy; best first.

    Parameters
    ----------
    steps : Steps
    trees : dict of Tree, optional
        By the names that their rows get.
    predicted : dict of ndarray, [steps], optional
        Seconds under choices that were made elsewhere, such as trees of other folds.
    relative_to : "oracle" or "best fixed"
        What everything is divided by.

    Examples
    --------
    >>> from gpop.learn.steps import example
    >>> [(line.name, line.total) for line in evaluate(example())]
    [('oracle', 1.0), ('best fixed', 2.0), ('sc', 2.75), ('pull', 3.25)]
    >>> evaluate(example(), relative_to=BEST_FIXED)[0].total
    0.5
    """
    optimum = steps.per_variant(steps.oracle)
    found = {ORACLE: optimum, BEST_FIXED: steps.best_fixed()}
    found |= {name: steps.per_variant(steps.predicted(tree)) for name, tree in (trees or {}).items()}
    found |= {name: steps.per_variant(seconds) for name, seconds in (predicted or {}).items()}
    found |= {name: steps.per_variant(seconds) for name, seconds in steps.others.items()}
    totals = steps.per_variant(steps.seconds)
    found |= {name: totals[:, i] for i, name in enumerate(steps.strategies)}
    return sorted((line_of(*each, found[relative_to]) for each in found.items()), key=lambda line: line.total)


def table(lines: list[Line]) -> str:
    """The rows as a Markdown table.

    Examples
    --------
    >>> print(table([Line("sc", 2.0, 2.0, 0.5, 0.0, 0.0, 3.0)]).splitlines()[-1])
    | sc | 2.00 | 2.00 | 50 % | 0 % | 0 % | 3.00 |
    """
    head = ("", "total", "mean", "within 2", "above 5", "above 20", "worst")
    rows = [head, ("---", *("---:",) * (len(head) - 1))]
    for line in lines:
        shares = (f"{100 * share:.0f} %" for share in line[3:6])
        rows.append((line.name, f"{line.total:.2f}", f"{line.mean:.2f}", *shares, f"{line.worst:.2f}"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
