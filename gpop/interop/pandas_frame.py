"""pandas: a frame with one row for each edge. Ids are integers, or names that pandas can factorize."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpop.common.arguments import kind_of, plain
from gpop.common.errors import UsageError
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import edge_columns, graph_of_columns, pick_columns

if TYPE_CHECKING:
    import pandas


def from_pandas(
    frame: pandas.DataFrame, source: Any, target: Any, weight: Any, n: int | None, duplicates: str, name: str
) -> Graph:
    """See `Graph.from_pandas`."""
    import pandas

    if not isinstance(frame, pandas.DataFrame):
        table = hasattr(frame, "__arrow_c_stream__") and (
            hasattr(frame, "columns") or hasattr(frame, "schema")
        )
        how = ": Graph.from_arrow takes it" if table else ""
        raise UsageError(f"expected a pandas DataFrame, got {kind_of(frame)}{how}")
    source, target, weight = pick_columns(list(frame.columns), source, target, weight)
    if frame.empty:  # the type of a column without values says nothing
        untyped = {column: np.int64 for column in (source, target)}
        if weight is not None and frame[weight].dtype == object:
            untyped[weight] = np.float64
        frame = frame.astype(untyped)
    columns = [frame[column] for column in (source, target)]
    for column in columns:
        if column.isna().any():
            raise UsageError(f"column {plain(column.name)!r} has missing ids, expected an id in every row")
    weights = None
    if weight is not None:
        if frame[weight].isna().any():
            raise UsageError(f"column {plain(weight)!r} has missing weights, expected a number in every row")
        kind = frame[weight].dtype
        if not pandas.api.types.is_numeric_dtype(kind) or pandas.api.types.is_bool_dtype(kind):
            raise UsageError(f"column {plain(weight)!r} is {kind}, expected numbers (weight=False for none)")
        weights = [frame[weight].to_numpy()]
        if weights[0].dtype == object:  # a nullable type: without missing values a plain array fits
            weights = [frame[weight].to_numpy(kind.numpy_dtype)]
    if all(pandas.api.types.is_integer_dtype(column) for column in columns):
        ends = [
            [column.to_numpy(np.int64 if column.to_numpy().dtype == object else None)] for column in columns
        ]
        return graph_of_columns(*ends, weights, n=n, duplicates=duplicates, name=name)
    if n is not None:
        raise UsageError("n is for integer ids; the ids of this frame are names")
    try:
        codes, names = pandas.factorize(pandas.concat([c.astype(object) for c in columns], ignore_index=True))
    except TypeError as error:  # unhashable
        raise UsageError(f"columns {source!r} and {target!r}: {error}, expected integers or names") from None
    ids = np.empty(len(names), object)
    ids[:] = list(names)
    ends = [[codes[: len(frame)]], [codes[len(frame) :]]]
    return graph_of_columns(*ends, weights, names=ids, duplicates=duplicates, name=name)


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """See `Graph.to_pandas`."""
    import pandas

    source, target, weights = edge_columns(graph)
    columns = {"source": source, "target": target}
    return pandas.DataFrame(columns if weights is None else {**columns, "weight": weights}, copy=False)
