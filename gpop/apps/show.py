"""A result to look at: a histogram in matplotlib, and what a notebook shows."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gpop.apps.holds import Holds, held
from gpop.apps.tables import first_of_numbers, group_word, present, top
from gpop.common import html as pieces
from gpop.common.errors import UsageError
from gpop.common.histogram import histogram
from gpop.execution.finished import in_a_line

SHOWN = 5
"""Rows of the table that a notebook shows."""


def plot(result: Any, by: str | None, ax: Any) -> Any:
    """See `AppResult.plot`."""
    name, _, values = present(result, by)
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise UsageError("a plot needs matplotlib: pip install matplotlib") from None
    if ax is None:
        _, ax = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    shown = histogram(values)
    places = np.arange(len(shown.counts))
    ax.bar(places, shown.counts, width=0.9)
    step = -(-len(places) // 10) or 1
    ax.set_xticks(places[::step], shown.labels[::step])
    if shown.powers or shown.counts.max(initial=0) > 1000 * max(np.median(shown.counts), 1):
        ax.set_yscale("log")
    about, unit = _axes(result, name)
    ax.set(xlabel=about, ylabel=unit)
    ax.set_title(title(result))
    return ax


def _axes(result: Any, name: str) -> tuple[str, str]:
    """What the histogram of a column is about, and what it counts."""
    group = group_word(result, name)
    return (f"vertices of a {group}", f"{group}s") if group else (name, "vertices")


def title(result: Any) -> str:
    """Kind of result and the graph that it is about."""
    name = result.graph.name if result.graph is not None else result.trace.summary.get("graph", "")
    return type(result).__name__ + (f" of {name}" if name else "")


def html(result: Any) -> str:
    """What a notebook shows: the run in a line, and the answer."""
    said = in_a_line(result.run)
    return f"<div><strong>{escape(title(result))}</strong><br>{escape(said)}<br>{answer_html(result)}</div>"


def answer_html(result: Any) -> str:
    """The answer: plain facts, the distribution of a column, and the largest values."""
    facts = [
        (name, "none" if value is None else f"{value:,}" if isinstance(value, int) else value)
        for name, what in held(result).items()
        if what is Holds.NO_VERTICES
        for value in [getattr(result, name)]
    ]
    parts = [escape(", ".join(f"{name} {value}" for name, value in facts))]
    name = first_of_numbers(result)
    if name is not None:
        _, _, values = present(result, name)
        about, unit = _axes(result, name)
        parts.append(f"<br>{pieces.bars(histogram(values), about, unit)}")
        parts.append(top(result, SHOWN, name)._repr_html_())
    return "".join(parts)
