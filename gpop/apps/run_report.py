"""``gpop.report(result)``: one HTML page about a run, with everything that it shows in the file itself.

Facts of the run; per iteration the frontier, the partitions that took each mode, the bytes that the model
counts, and the seconds in scatter and gather; then the answer: its distribution and largest values. Charts
are SVG; there are no scripts, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import gpop
from gpop.apps.result import AppResult
from gpop.apps.show import answer_html, title
from gpop.common import charts, html
from gpop.common.errors import UsageError
from gpop.common.memory import readable
from gpop.common.replacing import replacing
from gpop.model import strategies

MOST_ROWS = 200
"""Iterations in the table; the charts have all."""

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
svg { max-width: 100%; height: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem .15rem 0; text-align: right; }
th:first-child, td:first-child { text-align: left; }
details > div { overflow-x: auto; }
"""


class Report:
    """A page about a run; a notebook shows it.

    Attributes
    ----------
    html : str
        The whole page.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike) -> None:
        """Write the page, which appears whole or not at all.

        Parameters
        ----------
        path : str or path
            A name that ends in .html.

        Raises
        ------
        UsageError
            For another name.
        """
        path = Path(path)
        if path.suffix not in (".html", ".htm"):
            raise UsageError(f"{path}: expected a name ending in .html")
        with replacing(path) as temporary:
            temporary.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        frame = escape(self.html, quote=True)
        return f'<iframe srcdoc="{frame}" style="width: 100%; height: 40rem; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Report: {len(self.html):,} characters of HTML; save(path) writes it>"


def report(result: AppResult | gpop.Run, path: str | os.PathLike | None = None) -> Report:
    """A page about a run for a browser: modes, frontier, bytes and time of each iteration, and the answer.

    Parameters
    ----------
    result : AppResult or Run
        What `gpop.bfs` and others return, or `gpop.run`.
    path : str or path, optional
        Write it there, to a name that ends in .html; the file appears whole or not at all.

    Returns
    -------
    Report
        Its ``html`` is the page, ``save(path)`` writes it, and a notebook shows it.

    Raises
    ------
    UsageError
        If it is no result, or for a name that does not end in .html.

    Examples
    --------
    >>> page = gpop.report(gpop.bfs(gpop.Graph.from_edges([0, 1], [1, 2]), 0, mode="sc"))
    >>> page.html.count("<svg"), "<script" in page.html
    (5, False)
    """
    if not isinstance(result, AppResult | gpop.Run):
        raise UsageError(f"report({result!r}): expected what gpop.run or an app has returned")
    run = result.run if isinstance(result, AppResult) else result
    said = run.trace.summary
    program = str(said.get("program", type(result).__name__))
    name = title(result) if isinstance(result, AppResult) else program
    parts = [f"<h1>{escape(name)}</h1>", html.table(("run", ""), _facts(result, run, program))]
    parts += ["<h2>Phases</h2>" if "phases" in said else "<h2>Iterations</h2>", *_pictures(run.trace)]
    if isinstance(result, AppResult):
        parts += ["<h2>Answer</h2>", answer_html(result)]
    page = Report(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>gpop: {escape(name)}</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(parts)}</body></html>\n"
    )
    if path is not None:
        page.save(path)
    return page


def _facts(result: Any, run: gpop.Run, program: str) -> list[tuple[str, str]]:
    trace, graph = run.trace, getattr(result, "graph", None)
    moved = int(trace.column("bytes").sum()) if len(trace) else 0
    facts = {"program": program}
    if graph is not None:
        facts["graph"] = f"{graph.name or '(unnamed)'}: {graph.n:,} vertices, {graph.m:,} edges"
    ended = "converged" if run.converged else "stopped at the limit"
    facts |= {
        "iterations": f"{run.iterations:,}, {ended}",
        "time": f"{1e3 * run.seconds:,.4g} ms, and {1e3 * run.prepare_seconds:,.4g} ms to build the layout",
        "mode": run.mode + (", interleaved" if run.interleave else ""),
        "target": f"{run.target}, {run.threads} thread{'s' * (run.threads != 1)}",
        "partitions": f"{run.partitions:,} of {run.partition_size:,} vertices",
        "bytes by the model": readable(moved)
        + (f", {moved / run.seconds / 1e9:.3g} GB/s" if run.seconds > 0 and moved else ""),
    }
    for key in ("model", "method", "reason", "order"):
        if key in trace.summary:
            facts[key] = str(trace.summary[key])
    if "reorder" in trace.summary:
        order = trace.summary["reorder"]
        facts["reordered"] = (
            f"by {order['order']}: messages per edge {order['r_before']:.3f} to {order['r_after']:.3f}"
        )
    facts["gpop"] = gpop.__version__
    return list(facts.items())


def _pictures(trace: gpop.Trace) -> list[str]:
    """Charts over iterations, and a table of the first ones; of phases a table alone."""
    if "phases" in trace.summary:
        rows = [
            (name, f"{record['active_edges']:,}", f"{1e3 * record['gather_seconds']:.4g}")
            for name, record in zip(trace.summary["phases"], trace, strict=True)
        ]
        return [html.table(("phase", "edges", "ms"), rows)]
    modes = {mode.name: trace.column(mode.column) for mode in strategies.MODES}
    used = {name: values for name, values in modes.items() if values.any()} or {"none": np.zeros(len(trace))}
    seconds = {name: 1e3 * trace.column(f"{name}_seconds") for name in ("scatter", "gather")}
    counts = {"vertices": trace.column("frontier"), "edges": trace.column("active_edges")}
    pictures = [
        charts.lines("Active vertices and their edges", counts),
        charts.stacked_bars("Partitions that took each mode", used),
        charts.stacked_bars("Bytes by the model", {"bytes": trace.column("bytes") / 1e6}, "MB"),
        charts.stacked_bars("Time", seconds, "ms"),
    ]
    header = ("iteration", "vertices", "edges", *modes, "messages", "MB", "scatter ms", "gather ms")
    rows = []
    for i in range(min(len(trace), MOST_ROWS)):
        record = trace[i]
        cells = [record["frontier"], record["active_edges"], *(record[m.column] for m in strategies.MODES)]
        times = [f"{1e3 * record[f'{name}_seconds']:.4g}" for name in ("scatter", "gather")]
        moved = f"{record['bytes'] / 1e6:.4g}"
        rows.append((i, *(f"{cell:,}" for cell in cells), f"{record['messages']:,}", moved, *times))
    more = f", the first {MOST_ROWS} of {len(trace):,}" if len(trace) > MOST_ROWS else ""
    table = html.table(header, rows)
    return [*pictures, f"<details><summary>As a table{more}</summary><div>{table}</div></details>"]
