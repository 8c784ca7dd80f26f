"""Charts over iterations as SVG that stands alone: bars on top of each other, and lines on a log scale.

A chart has at most `COLUMNS` places; where there are more iterations, a place stands for several, and shows
their sum (bars) or mean (lines).
"""

from __future__ import annotations

from html import escape

import numpy as np

WIDTH, HEIGHT, LEFT, FOOT, TOP = 720, 150, 64, 22, 20
COLUMNS = 240
COLOURS = ("#3953a4", "#d95f02", "#1b9e77", "#888888")


def grouped(values: np.ndarray, mean: bool = False) -> tuple[np.ndarray, int]:
    """(values of each place, iterations that a place stands for).

    Examples
    --------
    >>> grouped(np.ones(500))[0].size, grouped(np.ones(500))[1]
    (167, 3)
    """
    each = -(-len(values) // COLUMNS) or 1
    starts = np.arange(0, len(values), each)
    sums = np.add.reduceat(values.astype(np.float64), starts) if len(values) else np.empty(0)
    return (sums / np.diff([*starts, len(values)]) if mean else sums), each


def stacked_bars(title: str, series: dict[str, np.ndarray], unit: str = "") -> str:
    """Bars of a sum over series, a colour for each."""
    places = {name: grouped(values) for name, values in series.items()}
    each = next(iter(places.values()))[1]
    heights = np.array([values for values, _ in places.values()])
    most = float(heights.sum(axis=0).max(initial=0)) or 1.0
    step = (WIDTH - LEFT) / max(heights.shape[1], 1)
    parts, below = [], np.zeros(heights.shape[1])
    for name, row, colour in zip(places, heights, COLOURS, strict=False):
        for i, value in enumerate(row.tolist()):
            if value > 0:
                tall = HEIGHT * value / most
                y = TOP + HEIGHT - HEIGHT * below[i] / most - tall
                parts.append(
                    f'<rect x="{LEFT + i * step:.1f}" y="{y:.1f}" width="{max(step - 0.5, 0.5):.1f}" '
                    f'height="{max(tall, 0.3):.1f}" fill="{colour}"><title>{escape(_where(i, each))}: '
                    f"{escape(name)} {value:,.6g} {escape(unit)}</title></rect>"
                )
        below += row
    return _chart(title, parts, list(places), most, unit, heights.shape[1] * each)


def lines(title: str, series: dict[str, np.ndarray]) -> str:
    """Lines of counts on a log scale; zeros lie on the axis."""
    places = {name: grouped(values, mean=True)[0] for name, values in series.items()}
    most = max((float(values.max(initial=1)) for values in places.values()), default=1.0)
    top, parts, count = np.log10(max(most, 10)), [], 0
    for (_, values), colour in zip(places.items(), COLOURS, strict=False):
        count = len(values)
        step = (WIDTH - LEFT) / max(count, 1)
        y = TOP + HEIGHT - HEIGHT * np.log10(np.maximum(values, 1)) / top
        dots = " ".join(f"{LEFT + (i + 0.5) * step:.1f},{at:.1f}" for i, at in enumerate(y.tolist()))
        parts.append(f'<polyline points="{dots}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if count <= COLUMNS // 4:
            parts += [
                f'<circle cx="{LEFT + (i + 0.5) * step:.1f}" cy="{at:.1f}" r="2" fill="{colour}">'
                f"<title>{escape(_where(i, 1))}: {value:,.0f}</title></circle>"
                for i, (at, value) in enumerate(zip(y.tolist(), values.tolist(), strict=True))
            ]
    iterations = max((len(values) for values in series.values()), default=0)
    return _chart(f"{title} (log scale)", parts, list(places), most, "", iterations)


def _where(place: int, each: int) -> str:
    first = place * each
    return f"iteration {first}" if each == 1 else f"iterations {first}-{first + each - 1}"


def _chart(title: str, parts: list[str], names: list[str], most: float, unit: str, iterations: int) -> str:
    """Axes, title and legend around what is drawn."""
    text = '<text font-size="11" fill="currentColor"'
    bottom = TOP + HEIGHT
    frame = [
        f'{text} x="{LEFT}" y="12" font-weight="bold">{escape(title)}</text>',
        f'{text} x="{LEFT - 4}" y="{TOP + 9}" text-anchor="end">{most:,.3g}</text>',
        f'{text} x="{LEFT - 4}" y="{TOP + 21}" text-anchor="end">{escape(unit)}</text>',
        f'<line x1="{LEFT}" y1="{bottom}" x2="{WIDTH}" y2="{bottom}" stroke="currentColor"/>',
        f'{text} x="{LEFT}" y="{bottom + 14}">0</text>',
        f'{text} x="{WIDTH}" y="{bottom + 14}" text-anchor="end">{max(iterations - 1, 0):,}</text>',
        f'{text} x="{(LEFT + WIDTH) / 2}" y="{bottom + 14}" text-anchor="middle">iteration</text>',
    ]
    at = WIDTH
    for name, colour in reversed(list(zip(names, COLOURS, strict=False))):
        at -= 7 * len(name) + 22
        frame.append(f'<rect x="{at}" y="4" width="9" height="9" fill="{colour}"/>')
        frame.append(f'{text} x="{at + 13}" y="12">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + FOOT}" '
        f'viewBox="0 0 {WIDTH} {bottom + FOOT}" role="img">{"".join(frame)}{"".join(parts)}</svg>'
    )
