"""Tables of the papers' implementations: all beside the optimum, ways to count, families of graphs, ranks.

A *walk* is an implementation without the way in which it counts the next frontier: the papers print one row
for each. Columns are those of M. Verstraaten's thesis (T-91 to T-93, `gpop.learn.evaluate`).
"""

from __future__ import annotations

import numpy as np

from gpop.learn.evaluate import Line, line_of
from perf.paper import COUNTED
from perf.paper_runs import PaperRuns

BEST_NON_SWITCHING = "best non-switching"
ENDS = tuple(sorted(filter(None, COUNTED), key=len, reverse=True))


def walk_of(name: str) -> str:
    """The name without the way to count.

    >>> walk_of("vertex-push-warp-16-64-blockreduce"), walk_of("edge-list")
    ('vertex-push-warp-16-64', 'edge-list')
    """
    return next((name.removesuffix(end) for end in ENDS if name.endswith(end)), name)


def lines(runs: PaperRuns, optimum: np.ndarray) -> list[Line]:
    """A row for every implementation and for the best whole run, the best total first."""
    found = [line_of(name, runs.of(name), optimum) for name in runs.names]
    found.append(line_of(BEST_NON_SWITCHING, runs.best, optimum))
    return sorted(found, key=lambda line: line.total)


def of_walks(found: list[Line]) -> list[Line]:
    """The best row of every walk."""
    seen: dict[str, Line] = {}
    for line in found:
        seen.setdefault(walk_of(line.name), line)
    return list(seen.values())


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table whose first column is of words.

    >>> print(markdown(["a", "b"], [["x", "1"]]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, marks, *rows))


def counting(runs: PaperRuns) -> str:
    """What each way to count the next frontier costs: times over those of the same walk without one."""
    rows = []
    for end, how in COUNTED.items():
        ratio = np.array(
            [runs.of(walk + end) / runs.of(walk) for walk in dict.fromkeys(map(walk_of, runs.names))]
        )
        best = np.mean([name.endswith(end) if end else name == walk_of(name) for name in winners(runs)])
        mean = np.exp(np.log(ratio).mean())
        rows.append([how, f"{mean:.3f}", f"{ratio.min():.2f}", f"{ratio.max():.2f}", f"{best:.0%}"])
    return markdown(["counted by", "geometric mean", "least", "most", "fastest of all"], rows)


def winners(runs: PaperRuns) -> list[str]:
    """The fastest implementation of every variant."""
    return [runs.names[place] for place in runs.seconds.argmin(axis=0)]


def families(runs: PaperRuns) -> str:
    """The best implementation over every family of graphs, and what switching would gain."""
    rows = []
    for family in dict.fromkeys(each.family for each in runs.variants):
        inside = runs.inside((family,))
        totals = runs.seconds[:, inside].sum(axis=1)
        best, optimum = int(totals.argmin()), runs.optimum[inside].sum()
        graphs = len({each.graph for each, here in zip(runs.variants, inside, strict=True) if here})
        rows.append(
            [
                family, str(graphs), str(int(inside.sum())), runs.names[best],
                f"{totals[best] / optimum:.2f}", f"{runs.best[inside].sum() / optimum:.2f}",
                f"{totals.max() / totals[best]:.1f}",
            ]
        )  # fmt: skip
    sizes = ["graphs", "variants"]
    return markdown(
        ["family", *sizes, "best over all", "its total", BEST_NON_SWITCHING, "slowest/best"], rows
    )


def iterations_won(runs: PaperRuns, most: int = 8) -> str:
    """Who is the fastest in most iterations, walks put together."""
    won: dict[str, int] = {}
    for name, count in zip(runs.names, runs.won.sum(axis=1).tolist(), strict=True):
        won[walk_of(name)] = won.get(walk_of(name), 0) + count
    total = sum(won.values())
    ranked = sorted(won.items(), key=lambda item: -item[1])[:most]
    return markdown(["walk", "fastest in"], [[name, f"{count / total:.1%}"] for name, count in ranked])
