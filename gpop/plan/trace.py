"""What happened in each iteration of a run.

One record per iteration: ``iteration``, ``frontier`` (active vertices at its start), ``active_edges``,
``partitions_sc``, ``partitions_pc``, ... (partitions that took each mode, in the order of their codes; those
of pull are the ones whose vertices asked; of ``levels``, which are not divided, as many as there could be at
most), ``messages`` (values sent to a partition, or delivered by pull), ``bytes`` (what the analytical model
predicts for the modes used), ``scatter_seconds`` and ``gather_seconds`` (wall clock of the two phases).
"""

from __future__ import annotations

import csv
import json
import os
from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np

from gpop.common.errors import UsageError
from gpop.common.replacing import replacing
from gpop.graph.graph import Graph
from gpop.model import strategies
from gpop.model.features import FEATURES, OF_RUN, run_features

COLUMNS = (
    "iteration",
    "frontier",
    "active_edges",
    *strategies.COLUMNS,
    "messages",
    "bytes",
    "scatter_seconds",
    "gather_seconds",
)
_SECONDS = ("scatter_seconds", "gather_seconds")
FRONTIER_AT, EDGES_AT, MODES_AT, MESSAGES_AT, BYTES_AT, SCATTER_AT, GATHER_AT = (
    COLUMNS.index(name) - 1
    for name in ("frontier", "active_edges", strategies.COLUMNS[0], "messages", "bytes", *_SECONDS)
)
"""Where an engine writes them in a row of its trace buffer, which begins with ``frontier``; a mode's column
is `MODES_AT` and its code."""

MOST = 1 << 22
"""Records that are kept: 300 MB. On a small graph a run that never converges makes two million a second."""


def _record(index: int, row: np.ndarray) -> dict[str, int | float]:
    record: dict[str, int | float] = {"iteration": index}
    for name, value in zip(COLUMNS[1:], row, strict=True):
        record[name] = float(value) if name in _SECONDS else int(value)
    return record


class Trace:
    """Records of a run, in order. Iterable, indexable, and exportable as JSON, CSV or a picture.

    Of a run of more than four million iterations (`MOST`) the last ones are kept, of one that goes on from a
    checkpoint its own: ``iteration`` says which, and ``summary["first_iteration"]`` where they begin.

    Parameters
    ----------
    summary : dict, optional
        What there is to say about the whole run.
    first : int
        Iterations before the first one.

    Examples
    --------
    >>> import gpop
    >>> chain = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> trace = gpop.bfs(chain, 0, method="messages").trace
    >>> [record["frontier"] for record in trace]
    [1, 1, 1, 1]
    """

    def __init__(self, summary: dict[str, Any] | None = None, first: int = 0) -> None:
        self.summary = summary or {}
        self._rows: deque[np.ndarray] = deque()  # some at a time, as they came
        self._count, self._first = 0, first
        if first:
            self.summary["first_iteration"] = first
        self._seconds_before = 0.0  # of records that are not kept any more

    def extend(self, rows: np.ndarray) -> None:
        """Append the rows of an engine's trace buffer.

        Parameters
        ----------
        rows : ndarray of float64, [iterations, columns]
            Columns in the order of `COLUMNS`, from ``frontier`` on.

        Examples
        --------
        >>> trace = Trace()
        >>> trace.extend(np.ones((2, len(COLUMNS) - 1)))
        >>> trace.column("messages").tolist()
        [1, 1]
        """
        self._rows.append(rows.copy())
        self._count += len(rows)
        while self._count - len(self._rows[0]) >= MOST:
            oldest = self._rows.popleft()
            self._count -= len(oldest)
            self._first += len(oldest)
            self._seconds_before += float(oldest[:, -2:].sum())
            self.summary["first_iteration"] = self._first

    def append(self, **columns: float) -> None:
        """Append one record.

        Parameters
        ----------
        **columns : float
            Of `COLUMNS`; those that are not given are 0.

        Examples
        --------
        >>> trace = Trace()
        >>> trace.append(frontier=3, gather_seconds=0.5)
        >>> trace[0]["frontier"], trace.seconds
        (3, 0.5)
        """
        self.extend(np.array([[columns.get(name, 0) for name in COLUMNS[1:]]], np.float64))

    def __len__(self) -> int:
        return self._count

    def _table(self) -> np.ndarray:
        """All records, a row each."""
        if len(self._rows) != 1:
            self._rows = deque([np.concatenate([np.empty((0, len(COLUMNS) - 1)), *self._rows])])
        return self._rows[0]

    @overload
    def __getitem__(self, index: int) -> dict[str, int | float]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, int | float]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, int | float] | list[dict[str, int | float]]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        last = self._rows[-1]  # what a callback asks for; to put all together each time would take too long
        first = len(self) - len(last)
        row = last[index - first] if index >= first else self._table()[index]
        return _record(self._first + index, row)

    def __iter__(self) -> Iterator[dict[str, int | float]]:
        return (_record(index, row) for index, row in enumerate(self._table(), self._first))

    def column(self, name: str) -> np.ndarray:
        """One column of all records.

        Parameters
        ----------
        name : str
            One of `COLUMNS`.

        Returns
        -------
        ndarray of int64 or float64, [records]
            Seconds are float64, all others counts.

        Raises
        ------
        UsageError
            If there is no such column.

        Examples
        --------
        >>> trace = Trace()
        >>> trace.append(frontier=3)
        >>> trace.column("frontier")
        array([3])
        """
        if name not in COLUMNS:
            raise UsageError(f"the trace has no column {name!r}: expected one of {', '.join(COLUMNS)}")
        if name == "iteration":
            return np.arange(self._first, self._first + len(self))
        values = self._table()[:, COLUMNS.index(name) - 1]
        return values.copy() if name in _SECONDS else values.astype(np.int64)

    def features(self, graph: Graph) -> dict[str, np.ndarray]:
        """What a strategy can be predicted from, in every iteration (`gpop.model.features`).

        Parameters
        ----------
        graph : Graph
            The one that the run was on.

        Returns
        -------
        dict of ndarray of float64, [iterations]
            By the names in `gpop.model.features.FEATURES`. Those of the program are 0 where nothing was
            compiled.

        Raises
        ------
        UsageError
            If the trace has no such columns, or the first iterations are not kept any more.

        Examples
        --------
        >>> import gpop
        >>> chain = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> gpop.bfs(chain, 0, method="messages").trace.features(chain)["visited rel"].tolist()
        [0.0, 0.25, 0.5, 0.75]
        """
        if self._first:
            raise UsageError(f"the trace begins with iteration {self._first}: features need all before, too")
        of_run = tuple(self.summary.get(name, 0) for name in OF_RUN)
        found = run_features(graph, of_run, self.column("frontier"), self.column("active_edges"))
        return dict(zip(FEATURES, found.T, strict=True))

    @property
    def seconds(self) -> float:
        """Seconds in scatter and gather, over all iterations."""
        return self._seconds_before + float(self._table()[:, -2:].sum())

    def __repr__(self) -> str:
        return f"<Trace: {self._first + len(self)} iterations, {self.seconds:.4g} s>"

    def save(self, path: str | os.PathLike) -> None:
        """Write the trace to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str or path
            Its suffix says what is written: ``.json``, ``.csv``, or a plot (``.png``, ``.svg``, ``.pdf``;
            needs matplotlib).

        Raises
        ------
        UsageError
            For another suffix, or a plot without matplotlib.
        GraphFileError
            If it cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "trace.csv")
        >>> Trace().save(path)
        >>> path.read_text().split(",")[:2]
        ['iteration', 'frontier']
        """
        path = Path(path)
        writers = {".json": self._write_json, ".csv": self._write_csv}
        writers |= {f".{form}": partial(self._write_plot, form=form) for form in ("png", "svg", "pdf")}
        if path.suffix not in writers:
            raise UsageError(f"{path}: trace format {path.suffix!r}: expected one of {', '.join(writers)}")
        with replacing(path) as temporary:
            writers[path.suffix](temporary)

    def _write_json(self, path: Path) -> None:
        path.write_text(json.dumps({"run": self.summary, "iterations": list(self)}, indent=1) + "\n")

    def _write_csv(self, path: Path) -> None:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self)

    def _write_plot(self, path: Path, form: str) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise UsageError("a plot needs matplotlib (pip install matplotlib)") from None
        figure = Figure(figsize=(9, 7), layout="constrained")
        figure.suptitle(self._title())
        top, middle, bottom = figure.subplots(3, 1, sharex=True)
        x = self.column("iteration")
        top.semilogy(x, np.maximum(self.column("frontier"), 0.5), label="vertices")
        top.semilogy(x, np.maximum(self.column("active_edges"), 0.5), label="edges")
        top.set_ylabel("active")
        below = np.zeros(len(self))
        for mode in strategies.MODES:
            partitions = self.column(mode.column)
            middle.bar(x, partitions, bottom=below, label=mode.name)
            below = below + partitions
        middle.set_ylabel("partitions")
        scatter, gather = (1e3 * self.column(name) for name in _SECONDS)
        bottom.bar(x, scatter, label="scatter")
        bottom.bar(x, gather, bottom=scatter, label="gather")
        bottom.set_ylabel("time, ms")
        bottom.set_xlabel("iteration")
        for axes in (top, middle, bottom):
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)  # beside, not over bars
        figure.savefig(path, format=form)

    def _title(self) -> str:
        """Program, graph, and how it was run, as far as the summary says it.

        >>> Trace({"program": "BFS", "graph": "road", "mode": "auto", "threads": 2})._title()
        'BFS on road, mode auto, 2 threads'
        """
        said = self.summary
        name = str(said.get("program", "run")) + (f" on {said['graph']}" if said.get("graph") else "")
        mode = [f"mode {said['mode']}"] if "mode" in said else []
        threads = [f"{said['threads']} thread{'s' * (said['threads'] != 1)}"] if "threads" in said else []
        return ", ".join([name, *mode, *threads])
