"""Part of ``python -m perf model-study``: how much of a log a tree has to be trained on.

As in M. Verstraaten's thesis (Tables 8.1 and 8.2) there is a tree for each of ten shares of the graphs, of
the variants and of the steps; where every vertex is always active a variant is one sample, and shares are of
graphs. A cell has two totals over the oracle's: on what the tree was not trained on, and on the whole log, as
in the thesis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpop.learn.split import Split
from gpop.learn.steps import Steps
from gpop.learn.train import train
from perf.model_transfer import EQUAL, kinds_of, markdown, rival_of, total

SHARES = tuple(range(10, 101, 10))


class Totals(NamedTuple):
    """Of one tree; ``rest`` is None where it was trained on all."""

    rest: float | None
    whole: float


def training_sizes(steps: Steps, **options: Any) -> dict[str, dict[int, Totals]]:
    """What was drawn -> share in percent -> totals; a share in which nothing was drawn has none."""
    found: dict[str, dict[int, Totals]] = {kind: {} for kind in kinds_of(steps)}
    for kind, totals in found.items():
        for percent in SHARES:
            chosen = Split(steps=1.0)._replace(**{kind: percent / 100}).of(steps)
            if chosen.any():
                tree = train(steps.where(chosen), **options)
                rest = None if chosen.all() else total(steps.where(~chosen), tree)
                totals[percent] = Totals(rest, total(steps, tree))
    return found


def table(found: dict[str, dict[int, Totals]]) -> str:
    """A row for each share, a column for what was drawn."""
    rows = [("trained on", *found)]
    for percent in SHARES:
        cells = (of.get(percent) for of in found.values())
        rows.append((f"{percent} %", *("" if cell is None else _cell(cell) for cell in cells)))
    return markdown(rows)


def _cell(found: Totals) -> str:
    """Both totals.

    >>> _cell(Totals(1.5, 1.234)), _cell(Totals(None, 1.0))
    ('1.50 / 1.23', '- / 1.00')
    """
    return f"{'-' if found.rest is None else f'{found.rest:.2f}'} / {found.whole:.2f}"


def sentences(found: dict[str, dict[int, Totals]], steps: Steps) -> list[str]:
    """From which share on the trees are no worse than what does not switch, on the whole log."""
    rival, bar = rival_of(steps)
    said = []
    for kind, of in found.items():
        worse = [share for share, totals in of.items() if not totals.whole <= bar * EQUAL]
        first = next((share for share in of if share > max(worse, default=0)), None)
        best = min(of, key=lambda share: of[share].whole)
        since = "never" if first is None else f"from {first} % on"
        said.append(
            f"{len(of)} trees by shares of {kind}: {since} as good as {rival} ({bar:.2f}) on the whole log; "
            f"the best, of {best} %, {of[best].whole:.2f}."
        )
    return said
