"""Part of ``python -m perf model-study``: trees on data sets, and on devices, that they were not trained on.

Cells are times over the oracle's. Across data sets (M. Verstraaten's thesis, chapter 8) trees of a share of
the variants, or of the steps, of graphs from files are asked about generated graphs, and the other way round;
and a tree of one family of graphs about each of the others, and about all of them together. Across devices
trees of one log are asked about the logs of the same algorithm that were measured elsewhere: a CPU, a GPU. In
their own log they are asked about what they were not trained on. Where every vertex is always active a
variant is one sample, and shares are of graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpop.generate import GENERATORS
from gpop.learn.evaluate import BEST_FIXED
from gpop.learn.split import Split
from gpop.learn.steps import Steps
from gpop.learn.train import train
from gpop.model.trees import Tree
from perf.steps import Log

SHARES = (0.6, 0.7, 0.8)
"""Of a log whose trees are asked about another device."""

SET_SHARES = (0.5, 0.6, 0.7, 0.8)
FILES, GENERATED = "files", "generated graphs"
EQUAL = 1 + 1e-9
"""Sums of the same seconds in another order are within this factor."""

OTHERS = "all others"


def markdown(rows: list[tuple[str, ...]]) -> str:
    """A table: the first row is its head, the first column says what the rows are."""
    rule = ("---", *("---:",) * (len(rows[0]) - 1))
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def total(steps: Steps, tree: Tree) -> float:
    """Of a tree, over the oracle's."""
    return float(steps.predicted(tree).sum() / steps.oracle.sum())


def kinds_of(steps: Steps) -> tuple[str, ...]:
    """What shares are drawn of."""
    return ("graphs", "variants", "steps") if len(steps) > len(steps.variants) else ("graphs",)


def _shares(steps: Steps, shares: tuple[float, ...], **options: Any) -> Iterator[tuple[str, Steps, Tree]]:
    """How each tree was trained, on what it was not, and the tree; of graphs where nothing else is drawn."""
    for kind in kinds_of(steps)[1:] or kinds_of(steps):
        for share in shares:
            chosen = Split(steps=1.0)._replace(**{kind: share}).of(steps)
            if chosen.any() and not chosen.all():
                yield f"{share:.0%} of {kind}", steps.where(~chosen), train(steps.where(chosen), **options)


def is_generated(name: str) -> bool:
    """Whether a graph of the log is a generator's.

    >>> is_generated("rmat-scale18-degree8"), is_generated("soc-Slashdot0902")
    (True, False)
    """
    return name.partition("-")[0] in GENERATORS


def across_sets(log: Log, **options: Any) -> tuple[str, str] | None:
    """Trees of files and of generated graphs, on what they were not trained on and on the other set.

    The table, and what follows from it; None where the log has no graphs of one of them.
    """
    steps = log.steps
    made = np.array([is_generated(log.graphs[number]) for number in steps.graph.tolist()])
    if made.all() or not made.any():
        return None
    sets = {FILES: steps.where(~made), GENERATED: steps.where(made)}
    rows, foreign = [("trained on", *sets)], {}
    for name, other in ((FILES, GENERATED), (GENERATED, FILES)):
        foreign[name] = []
        for how, rest, tree in _shares(sets[name], SET_SHARES, **options):
            totals = {name: total(rest, tree), other: total(sets[other], tree)}
            foreign[name].append(totals[other])
            rows.append((f"{name}, {how}", *(f"{totals[each]:.2f}" for each in sets)))
    rows += _beside([*sets.values()])
    said = []
    for name, other in ((FILES, GENERATED), (GENERATED, FILES)):
        rival, bar = rival_of(sets[other])
        fine = sum(each <= bar * EQUAL for each in foreign[name])
        said.append(
            f"Trees of {name} take {min(foreign[name]):.2f} to {max(foreign[name]):.2f} of the oracle's time "
            f"on {other}; {fine} of {len(foreign[name])} are not above {rival} ({bar:.2f})."
        )
    return markdown(rows), "\n".join(said)


def rival_of(steps: Steps) -> tuple[str, float]:
    """The best that does not switch, and its total: the best strategy of each variant, or of all.

    The best of each variant of one sample is the oracle.
    """
    if len(steps) > len(steps.variants):
        return BEST_FIXED, float(steps.best_fixed().sum() / steps.oracle.sum())
    totals = steps.seconds.sum(axis=0) / steps.oracle.sum()
    best = int(totals.argmin())
    return f"{steps.strategies[best]} everywhere", float(totals[best])


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


def order_of(steps: Steps) -> list[str]:
    """The strategies, the fastest over all first."""
    return [steps.strategies[i] for i in steps.seconds.sum(axis=0).argsort()]


def across_devices(logs: list[Log], **options: Any) -> tuple[str, str]:
    """The table of logs of one algorithm, and what follows from it; of strategies, those that all logs have.

    A row for each share of a log that a tree was trained on, a column for each log.
    """
    common = set.intersection(*({*log.steps.strategies} for log in logs))
    found = {device_of(log): log.steps.only(common) for log in logs}
    rows = [("trained on", *found)]
    foreign: list[float] = []
    fine = 0
    for name, steps in found.items():
        for how, rest, tree in _shares(steps, SHARES, **options):
            totals = {other: total(rest if other == name else found[other], tree) for other in found}
            rows.append((f"{name}, {how}", *(f"{each:.2f}" for each in totals.values())))
            for other in found.keys() - {name}:
                foreign.append(totals[other])
                fine += totals[other] <= rival_of(found[other])[1] * EQUAL
    rows += _beside([*found.values()])
    rivals = sorted({"the best fixed strategy of every variant" if name == BEST_FIXED else name
                     for name, _ in map(rival_of, found.values())})  # fmt: skip
    said = [
        f"Trees of another log take {min(foreign):.2f} to {max(foreign):.2f} of the oracle's time; "
        f"{fine} of {len(foreign)} are not above {' and '.join(rivals)}."
    ]
    orders = {name: order_of(steps) for name, steps in found.items()}
    alike = len({*map(tuple, orders.values())}) == 1
    told = "; ".join(f"{name}: {', '.join(order)}" for name, order in orders.items())
    said.append(
        f"Strategies, the fastest over all first: {told}: {'the same' if alike else 'another'} order."
    )
    return markdown(rows), "\n".join(said)
