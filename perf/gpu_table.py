"""The tables of ``python -m perf gpu``, and which bars their numbers meet.

Times are seconds of a run, of one iteration for PageRank. The bars, on the graphs they are meant for:

=========  =============================  ==================================================
graphs     gpop                           at most (at least)
=========  =============================  ==================================================
RMAT       PageRank, pc                   0.7 of the time of cuSPARSE's SpMV
RMAT       PageRank, pc                   (40 % of the copy bandwidth, bytes by the model)
RMAT       BFS, auto; SSSP, auto          0.6; 0.8 of the time of a peer
all        every app, auto                the time of a peer
all        every app, its best            the time of the better CUDA baseline
grid       BFS, auto; SSSP, auto          25 microseconds a level
=========  =============================  ==================================================
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple

BASELINES = ("edge", "vertex")
SPMV = "spmv"
SPMV_SHARE, COPY_SHARE, LEVEL_SECONDS = 0.7, 0.4, 25e-6
PEER_SHARE = {"bfs": 0.6, "sssp": 0.8}
OWN = "gpop "


class Entry(NamedTuple):
    """One line: an app by one contender. ``bytes`` are those that the model counts; 0: not known."""

    app: str
    name: str
    seconds: list[float]
    """One per round."""
    iterations: int = 0
    bytes: float = 0
    right: bool | None = None
    """Whether the answer equals the CPU's; None: not checked."""
    error: float = 0
    """Largest relative difference of a rank."""

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third, in seconds."""
        if len(self.seconds) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return first, third


class Result(NamedTuple):
    """What was measured on one graph; ``kind`` is rmat, grid or file, ``copy`` in bytes per second."""

    graph: str
    kind: str
    about: str
    copy: float
    entries: list[Entry]
    peers: list[str]


def _find(result: Result, app: str, name: str) -> Entry | None:
    return next((entry for entry in result.entries if (entry.app, entry.name) == (app, name)), None)


def _ratio(result: Result, entry: Entry, name: str) -> str:
    other = _find(result, entry.app, name)
    return f"{entry.median / other.median:.2f}" if other and other is not entry else "-"


def table(result: Result) -> str:
    """The lines of one graph."""
    against = [SPMV, *BASELINES, *result.peers]
    head = ["app", "by", "ms", "quartiles", *(f"/{name}" for name in against), "MB", "% of copy"]
    head += ["iterations", "us/level", "equal"]
    lines = [head]
    for entry in result.entries:
        low, high = entry.quartiles
        levels = entry.iterations and entry.app != "pagerank"
        error = f" ({entry.error:.0e})" if entry.error else ""
        lines.append(
            [
                entry.app,
                entry.name,
                f"{1e3 * entry.median:.3f}",
                f"{1e3 * low:.3f}..{1e3 * high:.3f}",
                *(_ratio(result, entry, name) for name in against),
                f"{1e-6 * entry.bytes:.1f}" if entry.bytes else "-",
                f"{100 * entry.bytes / entry.median / result.copy:.1f}" if entry.bytes else "-",
                f"{entry.iterations}" if entry.iterations else "-",
                f"{1e6 * entry.median / entry.iterations:.2f}" if levels else "-",
                {True: "yes", False: "NO", None: "-"}[entry.right] + error,
            ]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    title = f"{result.graph}: {result.about}; copy {1e-9 * result.copy:.0f} GB/s"
    return "\n".join([title, *text])


def _bar(what: str, value: float, unit: str, bar: float, met: bool, side: str) -> str:
    return f"{'met   ' if met else 'MISSED'}  {what}: {value:.3g}{unit} ({side} {bar:g}{unit})"


def bars(results: Iterable[Result]) -> list[str]:
    """One line per bar that the numbers tell something about."""
    lines = []
    for result in results:
        if result.kind == "rmat":
            lines += _pagerank_bars(result)
        for app in dict.fromkeys(entry.app for entry in result.entries):
            lines += _bars_beside_others(result, app)
        for app in PEER_SHARE if result.kind == "grid" else ():
            own = _find(result, app, f"{OWN}auto")
            if own:
                value = own.median / own.iterations
                what = f"{result.graph} {app} auto per level"
                met = value <= LEVEL_SECONDS
                lines.append(_bar(what, 1e6 * value, " us", 1e6 * LEVEL_SECONDS, met, "at most"))
    return lines


def _bars_beside_others(result: Result, app: str) -> list[str]:
    """Of auto beside every peer that has the app, and of the best beside the better baseline."""
    times = {entry.name: entry.median for entry in result.entries if entry.app == app}
    auto, lines = times.get(f"{OWN}auto"), []
    for peer in result.peers if auto else ():
        if peer in times:
            share = PEER_SHARE.get(app, 1) if result.kind == "rmat" else 1
            value = auto / times[peer]
            what = f"{result.graph} {app} auto / {peer}"
            lines.append(_bar(what, value, "", share, value <= share, "at most"))
    best = min((taken for name, taken in times.items() if name.startswith(OWN)), default=None)
    baseline = min((times[name] for name in BASELINES if name in times), default=None)
    if best and baseline:
        value = best / baseline
        lines.append(_bar(f"{result.graph} {app} best / baseline", value, "", 1, value <= 1, "at most"))
    return lines


def _pagerank_bars(result: Result) -> list[str]:
    own, spmv, lines = _find(result, "pagerank", f"{OWN}pc"), _find(result, "pagerank", SPMV), []
    if own and spmv:
        value = own.median / spmv.median
        what = f"{result.graph} pagerank pc / SpMV"
        lines.append(_bar(what, value, "", SPMV_SHARE, value <= SPMV_SHARE, "at most"))
    if own and own.bytes:
        value = own.bytes / own.median / result.copy
        what = f"{result.graph} pagerank pc of copy bandwidth"
        lines.append(_bar(what, 100 * value, " %", 100 * COPY_SHARE, value >= COPY_SHARE, "at least"))
    return lines


def wrong(results: Iterable[Result]) -> list[str]:
    """Answers that do not equal the CPU's."""
    return [
        f"WRONG   {result.graph} {entry.app} by {entry.name}"
        for result in results
        for entry in result.entries
        if entry.right is False
    ]
