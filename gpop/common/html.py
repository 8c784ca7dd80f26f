"""Small pieces of HTML that stand alone: tables, and bars in SVG. No scripts, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from gpop.common.histogram import Histogram

WIDTH, HEIGHT, FOOT = 420, 110, 26


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; what a cell holds is text, whatever characters are in it.

    Examples
    --------
    >>> table(["vertex"], [["<b>"]])
    '<table><thead><tr><th>vertex</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(name))}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(shown: Histogram, title: str, unit: str = "vertices") -> str:
    """A histogram as an SVG picture; pointing at a bar tells its bin and count.

    Examples
    --------
    >>> import numpy as np
    >>> bars(Histogram(np.array([1, 3]), ["0", "1"]), "level").count("<rect")
    2
    """
    counts, labels = shown.counts.tolist(), shown.labels
    tallest, step = max(counts, default=0) or 1, WIDTH / max(len(counts), 1)
    parts = []
    for i, (count, label) in enumerate(zip(counts, labels, strict=True)):
        height = max(HEIGHT * count / tallest, 1.0 if count else 0.0)
        to = f" to {labels[i + 1]}" if shown.powers and i + 1 < len(labels) else ""
        parts.append(
            f'<rect x="{i * step:.1f}" y="{HEIGHT - height:.1f}" width="{max(step - 1, 0.5):.1f}" '
            f'height="{height:.1f}" fill="#3953a4"><title>{escape(label)}{escape(to)}: {count:,} {unit}'
            "</title></rect>"
        )
    for i in sorted({0, len(labels) // 2, len(labels) - 1}) if labels else ():
        anchor = "start" if i == 0 else "end" if i == len(labels) - 1 else "middle"
        place = (i + (0 if i == 0 else 1 if i == len(labels) - 1 else 0.5)) * step
        parts.append(
            f'<text x="{place:.1f}" y="{HEIGHT + 11}" font-size="10" text-anchor="{anchor}" '
            f'fill="currentColor">{escape(labels[i])}</text>'
        )
    parts.append(
        f'<text x="{WIDTH / 2}" y="{HEIGHT + 24}" font-size="11" text-anchor="middle" fill="currentColor">'
        f"{escape(title)} (highest bar: {max(counts, default=0):,} {unit})</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + FOOT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT + FOOT}" role="img">{"".join(parts)}</svg>'
    )
