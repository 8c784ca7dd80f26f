"""What an app's command line prints and writes: the answer first, then how it came about."""

from __future__ import annotations

import csv
import io
import statistics
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

import gpop
from gpop.apps.tables import largest
from gpop.common.replacing import replacing
from gpop.graph.kept import Kind
from gpop.model import strategies
from gpop.ranks.world import World
from gpop.ranks.write_together import write_together

DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABLE_SUFFIXES = (".npy", *DELIMITERS)


def ids(graph: gpop.Graph, vertices: np.ndarray) -> np.ndarray:
    """Original ids of vertices; -1, which is no vertex, becomes -1 or an empty name.

    Examples
    --------
    >>> import networkx
    >>> ids(gpop.Graph.from_networkx(networkx.path_graph(["a", "b"])), np.array([1, -1]))
    array(['b', ''], dtype='<U1')
    """
    if graph.original_ids is None:
        return vertices
    if graph.original_ids.dtype.kind in "iu":
        names, nobody = graph.original_ids, -1
    else:
        names, nobody = graph.original_ids.astype(str), ""
    if names.size == 0:
        return names
    return np.where(vertices >= 0, names[vertices], nobody)


def share(part: int, whole: int) -> str:
    """``part of whole vertices (percent)``."""
    return f"{part:,} of {whole:,} vertices ({100 * part / max(whole, 1):.3g} %)"


def top(graph: gpop.Graph, values: np.ndarray, vertices: np.ndarray | None = None, most: int = 10) -> str:
    """Table of the largest values with the original ids of their vertices; equal ones in order of vertex."""
    order = largest(values, most)
    chosen = order if vertices is None else vertices[order]
    rows = zip(ids(graph, chosen).tolist(), values[order].tolist(), strict=True)
    return "\n".join(f"  {name!s:>12}  {value:.6g}" for name, value in rows)


def timing(seconds: list[float], edges: int) -> str:
    """The median round, all rounds, and edges per second."""
    median = statistics.median(seconds)  # NumPy would import its masked arrays for it
    rate = f", {edges / median / 1e6:,.1f} M edges/s" if median > 0 else ""
    rounds = ", ".join(f"{1e3 * each:.4g}" for each in seconds)
    return f"time        {1e3 * median:.4g} ms, the median of {len(seconds)} rounds ({rounds} ms){rate}"


def details(
    graph: gpop.Graph, result: Any, load_seconds: float, prepare_seconds: float, bins_seconds: float
) -> str:
    """Graph, layout and run, a line each."""
    run = result.run
    weights = "" if graph.weights is None else f", {graph.weights.dtype} weights"
    interleaved = ", interleaved" if run.interleave else ""
    lines = {
        "graph": f"{graph.name}: {graph.n:,} vertices, {graph.m:,} edges{weights}",
        "loaded": f"in {load_seconds:.3g} s",
        "prepared": f"in {prepare_seconds:.3g} s, {bins_seconds:.3g} s of it for the bins",
        "partitions": f"{run.partitions:,} of {run.partition_size:,} vertices",
        "run": f"{run.iterations:,} iterations, {run.threads} threads, mode {run.mode}{interleaved}",
        "target": run.target,
        "scatter": modes(result.trace),
    }
    if "reorder" in result.trace.summary:
        said = result.trace.summary["reorder"]
        gain = f"messages per edge {said['r_before']:.3f} -> {said['r_after']:.3f}"
        lines["reordered"] = f"by {said['order']} in {said['seconds']:.3g} s, {gain}"
    if "phases" in result.trace.summary:  # no messages, no bins, no iterations
        lines["prepared"] = f"in {prepare_seconds:.3g} s"
        lines["run"] = f"{run.threads} threads"
        lines["phases"] = phases(result.trace)
        del lines["partitions"], lines["scatter"]
    return "\n".join(f"{name:12}{text}" for name, text in lines.items())


def layouts(graph: gpop.Graph) -> str:
    """What ``--layouts`` did, for the graph or its symmetric copy.

    Examples
    --------
    >>> layouts(gpop.Graph.from_edges([0], [1]))
    'layouts     none: the run needed no bins'
    """
    used = (graph, graph.store.get(Kind.SYMMETRIC) or graph)
    told = [each.facts.layout_told for each in used if each.facts.layout_told]
    return f"layouts     {told[-1] if told else 'none: the run needed no bins'}"


def phases(trace: gpop.Trace) -> str:
    """What each phase of a direct algorithm took, and the edges it looked at."""

    def said(name: str, record: dict) -> str:
        edges = f" for {record['active_edges']:,} edges" if record["active_edges"] else ""
        return f"{name} {1e3 * record['gather_seconds']:.3g} ms{edges}"

    return ", ".join(map(said, trace.summary["phases"], trace))


def modes(trace: gpop.Trace, most: int = 8) -> str:
    """Which modes the partitions scattered in, as ranges of iterations."""

    def used(record: dict) -> str:
        names = [mode.name for mode in strategies.MODES if record[mode.column]]
        return " and ".join(names) or "nothing"

    parts, at = [], 0
    for name, group in groupby(map(used, trace)):
        size = len(list(group))
        parts.append(f"{name} in {at}" if size == 1 else f"{name} in {at}-{at + size - 1}")
        at += size
    shown = ", ".join(parts[:most]) + (
        f", ... ({len(parts) - most} more changes)" if len(parts) > most else ""
    )
    return shown or "no iterations"


def save_table(
    path: Path,
    columns: dict[str, np.ndarray],
    missing: dict[str, np.ndarray | None],
    world: World | None = None,
) -> None:
    """Write columns of equal length as ``.npy`` (a structured array), ``.csv`` or ``.tsv``.

    Text has an empty cell where a value is missing; an array has what the result has there. The ranks of a
    ``world``, which all have the columns, write some of the rows each.
    """
    rows = len(columns["vertex"])
    if world is None:
        with replacing(path) as temporary, temporary.open("wb") as file:
            _write_rows(file, path, columns, missing, 0, rows, True)
        return
    first, last = (rows * share // world.size for share in (world.rank, world.rank + 1))
    file = io.BytesIO()
    _write_rows(file, path, columns, missing, first, last, world.rank == 0)
    write_together(path, file.getbuffer(), world)


def _write_rows(
    file: BinaryIO,
    path: Path,
    columns: dict[str, np.ndarray],
    missing: dict[str, np.ndarray | None],
    first: int,
    last: int,
    with_head: bool,
) -> None:
    """Some rows of a table."""
    rows = len(columns["vertex"])
    some = {name: column[first:last] for name, column in columns.items()}
    if path.suffix == ".npy":
        table = np.empty(last - first, [(name, column.dtype) for name, column in columns.items()])
        for name, column in some.items():
            table[name] = column
        if with_head:
            head = np.lib.format.header_data_from_array_1_0(table) | {"shape": (rows,)}
            np.lib.format.write_array_header_1_0(file, head)
        file.write(table.tobytes())
        return
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=DELIMITERS[path.suffix], lineterminator="\n")
    if with_head:
        writer.writerow(columns)
    none = {name: None if each is None else each[first:last] for name, each in missing.items()}
    cells = [_cells(column, none.get(name)) for name, column in some.items()]
    writer.writerows(zip(*cells, strict=True))
    text.detach()


def _cells(column: np.ndarray, missing: np.ndarray | None) -> Any:
    """Values that print without the digits that a float32 does not have, and nothing where none is."""
    cells = column if column.dtype == np.float32 else column.tolist()
    if missing is None or not missing.any():
        return cells
    return ["" if none else cell for cell, none in zip(cells, missing.tolist(), strict=True)]
