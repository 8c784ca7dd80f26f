"""One function for edge tables of any kind: pandas, Polars, Arrow, or a mapping from names to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from gpop.common.arguments import kind_of, plain
from gpop.common.errors import UsageError
from gpop.graph.arguments import as_weights, whole_kept
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import graph_of_columns, pick_columns


def read_edges(
    table: Any,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    *,
    n: int | None = None,
    duplicates: str = "keep",
    name: str = "",
) -> Graph:
    """Graph of an edge table: a row for each directed edge.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, or a mapping from names to columns
        Or any other object with the Arrow C stream interface; for these and Polars pyarrow is needed.
    source, target : label, optional
        Columns of the ends; by default those with a usual name (source, src, from, ...; target, dst, to,
        ...), else the first two. Integers are indices, and there are as many vertices as the largest + 1,
        while that is at most 4 * (number of distinct ids) + 1024; sparser ones are numbered in ascending
        order and kept in ``original_ids``. Anything else is a name, and kept there.
    weight : label or False, optional
        Column of the weights; by default one that is called weight, w, ...; False for none.
    n : int, optional
        Number of vertices, for ids that are 0 .. n-1.
    duplicates : "keep", "first", "min", "max" or "sum"
        What becomes of edges that occur several times, as in `Graph.from_edges`.
    name : str
        For messages and output.

    Returns
    -------
    Graph
        For undirected edges, call its ``symmetrize()``.

    Raises
    ------
    UsageError
        If it is no table, there is no such column, a column has gaps, or ids and weights are of no use.

    Examples
    --------
    >>> import gpop
    >>> graph = gpop.read_edges({"from": ["a", "b", "c"], "to": ["b", "c", "a"]}, "from", "to")
    >>> graph.original_ids.tolist(), graph.indices.tolist()
    (['a', 'b', 'c'], [1, 2, 0])
    """
    rest = (source, target, weight)
    library = type(table).__module__.partition(".")[0]
    if library == "pandas":
        return Graph.from_pandas(table, *rest, n=n, duplicates=duplicates, name=name)
    if hasattr(table, "__arrow_c_stream__"):
        return Graph.from_arrow(table, *rest, n=n, duplicates=duplicates, name=name)
    if not isinstance(table, Mapping):
        raise UsageError(
            f"expected a table of pandas, Polars or Arrow, or a mapping of columns, got {kind_of(table)}"
        )
    picked = pick_columns(list(table), *rest)
    columns = [_column(table[label], label) for label in picked if label is not None]
    if len({len(column) for column in columns}) > 1:
        raise UsageError("columns of the table differ in length, expected a value in every row of each")
    weights = None if picked[2] is None else [as_weights(columns[2], len(columns[0]))]
    if all(column.dtype.kind in "iu" or not len(column) for column in columns[:2]):
        ends = [[column] for column in columns[:2]]
        return graph_of_columns(*ends, weights, n=n, duplicates=duplicates, name=name)
    if n is not None:
        raise UsageError("n is for integer ids; the ids of this table are names")
    codes, names = _numbered(columns[0].tolist() + columns[1].tolist())
    rows = len(columns[0])
    return graph_of_columns(
        [codes[:rows]], [codes[rows:]], weights, names=names, duplicates=duplicates, name=name
    )


def _column(values: Any, label: Any) -> np.ndarray:
    """A column as an array; text and other objects as objects, none of them missing."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise UsageError(f"column {label!r} has {values.ndim} dimensions, expected one")
    if not isinstance(values, Sized):  # an iterator, which is walked along once
        values = list(values)
    if isinstance(values, np.ndarray) or not any(isinstance(value, list | tuple) for value in values):
        column = whole_kept(values, np.asarray(values), f"column {label!r}: its numbers")
        if column.dtype.kind in "iub" or (column.dtype.kind == "f" and not np.isnan(column).any()):
            return column
    objects = [plain(value) for value in values]
    if any(value is None or value != value for value in objects):
        raise UsageError(f"column {label!r} has missing values, expected one in every row")
    return _objects(objects)


def _objects(values: list[Any]) -> np.ndarray:
    """Array of these objects, one by one: at once, those that are tuples would be unpacked."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _numbered(values: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """(number of each name in order of first appearance, the names)."""
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (number.setdefault(value, len(number)) for value in values), np.int64, len(values)
        )
    except TypeError as error:  # unhashable
        raise UsageError(f"ids: {error}, expected integers or names") from None
    return codes, _objects(list(number))
