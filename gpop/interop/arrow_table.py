"""Arrow: whatever speaks the Arrow C stream interface (pyarrow, Polars, DuckDB, ...), read with pyarrow.

Batches of integers and weights without nulls are taken as they are, without a copy; those of a stream
(a file) are copied one by one, so that the table is never held as a whole. Names are dictionary-encoded
by Arrow. A table made here carries the number of vertices as metadata, so that
vertices without edges survive when the ids are 0..n-1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpop.common.arguments import kind_of
from gpop.common.errors import UsageError
from gpop.common.memory import own_copy
from gpop.graph.arguments import as_ids, as_weights
from gpop.graph.edge_pieces import narrow
from gpop.graph.graph import Graph
from gpop.interop.edge_columns import edge_columns, graph_of_columns, pick_columns

if TYPE_CHECKING:
    import pyarrow

_VERTICES = b"gpop.vertices"


def import_pyarrow() -> Any:
    """The module pyarrow, or one line on how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError("Arrow tables need the package pyarrow: pip install pyarrow") from None
    return pyarrow


def from_arrow(
    table: Any,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    n: int | None = None,
    duplicates: str = "keep",
    name: str = "",
    progress: bool = False,
) -> Graph:
    """See `Graph.from_arrow`."""
    pa = import_pyarrow()
    if not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise UsageError(f"expected an object with __arrow_c_stream__, got {kind_of(table)}")
        try:
            table = pa.table(table)
        except (pa.ArrowInvalid, TypeError):  # one column: its stream has no names
            raise UsageError(f"expected a table with named columns, got {kind_of(table)}") from None
    schema = table.schema
    picked = pick_columns(schema.names, source, target, weight)
    return from_batches(schema, table.to_batches(), *picked, n, duplicates, name, progress)


def from_batches(
    schema: pyarrow.Schema,
    batches: Iterable[pyarrow.RecordBatch],
    source: str,
    target: str,
    weight: str | None,
    n: int | None = None,
    duplicates: str = "keep",
    name: str = "",
    progress: bool = False,
) -> Graph:
    """Graph of the edges in record batches; those that come from an iterator are let go one by one."""
    pa = import_pyarrow()
    columns = [source, target] if weight is None else [source, target, weight]
    for column in columns:
        if schema.get_field_index(column) < 0:
            raise UsageError(f"column {column!r} occurs several times, expected once")
    if weight is not None:
        kind, is_a = schema.field(weight).type, pa.types
        if not (is_a.is_integer(kind) or is_a.is_floating(kind) or is_a.is_null(kind)):
            raise UsageError(f"column {weight!r} is {kind}, expected numbers (weight=False for none)")
    if has_integer_ids(schema, source, target):
        arrays = integer_columns(schema, batches, columns)
        if n is None:
            n = stated(schema, *largest_and_rows(arrays))
        return graph_of_columns(
            *arrays[:2], *arrays[2:] or [None], n=n, duplicates=duplicates, name=name, progress=progress
        )
    if n is not None:
        raise UsageError("n is for integer ids; the ids of this table are names")
    table = pa.Table.from_batches(batches, schema)
    ends = [_plain(pa, table.column(column), column) for column in (source, target)]
    weights = None if weight is None else [_plain(pa, table.column(weight), weight).to_numpy()]
    codes, names = _encode(pa, ends)
    arrays = [[codes[: len(ends[0])]], [codes[len(ends[0]) :]]]
    return graph_of_columns(
        *arrays, weights, names=names, duplicates=duplicates, name=name, progress=progress
    )


def has_integer_ids(schema: pyarrow.Schema, source: str, target: str) -> bool:
    """Whether the ids of both ends are integers, not names."""
    pa = import_pyarrow()
    return all(pa.types.is_integer(_kind(pa, schema, column)) for column in (source, target))


def integer_columns(
    schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch], columns: list[str]
) -> list[list[np.ndarray]]:
    """Source, target and perhaps weight of every batch; copies, but of a list of batches."""
    pa = import_pyarrow()
    arrays: list[list[np.ndarray]] = [[] for _ in columns]
    for batch in batches:
        for i, (column, pieces) in enumerate(zip(columns, arrays, strict=True)):
            values = _plain(pa, batch.column(column), column).to_numpy()
            if not isinstance(batches, list):
                checked = as_weights(values, len(values)) if i == 2 else as_ids(values, column)
                values = own_copy(checked) if i == 2 else narrow(checked)
            pieces.append(values)
    if not arrays[0]:  # no batch says which numbers the weights are
        kinds = [_kind(pa, schema, column).to_pandas_dtype() for column in columns]
        arrays = [[np.empty(0, kind)] for kind in kinds]
    return arrays


def largest_and_rows(arrays: list[list[np.ndarray]]) -> tuple[int, int]:
    """The largest id, -1 where there is none, and the number of edges."""
    largest = max((int(array.max()) for end in arrays[:2] for array in end if len(array)), default=-1)
    return largest, sum(map(len, arrays[0]))


def _plain(pa: Any, column: Any, name: str) -> Any:
    """The column without dictionary encoding; nulls are an error."""
    if column.null_count:
        raise UsageError(f"column {name!r} has {column.null_count} nulls, expected a value in every row")
    if pa.types.is_null(column.type):  # no value, and so none missing: no rows
        return column.cast(pa.int64())
    if not pa.types.is_dictionary(column.type):
        return column
    if _is_view(pa, column.type.value_type):  # categories of Polars; Arrow has no cast of these
        parts = [
            pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(pa.large_string()))
            for part in column.chunks
        ]
        column = pa.chunked_array(parts, pa.dictionary(column.type.index_type, pa.large_string()))
    return column.cast(column.type.value_type)


def _encode(pa: Any, ends: list) -> tuple[np.ndarray, np.ndarray]:
    """(number of the name of every source and then every target, the names)."""
    for end in ends:
        if not (pa.types.is_string(end.type) or pa.types.is_large_string(end.type) or _is_view(pa, end.type)):
            if len(end) and not pa.types.is_integer(end.type):
                raise UsageError(f"ids are {end.type}, expected integers or text")
    text = [end.cast(pa.large_string()) for end in ends]
    both = pa.chunked_array([chunk for end in text for chunk in end.chunks], pa.large_string())
    encoded = both.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names = encoded.dictionary.to_pylist()
    lossy = any(name.endswith("\0") for name in names)  # NumPy's text has no zeros at its end
    return encoded.indices.to_numpy(zero_copy_only=False), np.array(names, object if lossy else str)


def _is_view(pa: Any, kind: Any) -> bool:
    return hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind)


def _kind(pa: Any, schema: pyarrow.Schema, column: str) -> Any:
    """The type of a column's values; where there are none and nobody says, integers."""
    kind = schema.field(column).type
    if pa.types.is_null(kind):
        return pa.int64()
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def stated(schema: pyarrow.Schema, largest: int, rows: int) -> int | None:
    """The number of vertices that a table made here carries, when the ids agree with it."""
    text = (schema.metadata or {}).get(_VERTICES, b"")
    if not text.isdigit() or len(text) > 10:
        return None
    return int(text) if largest < int(text) <= most_stated(rows) else None


def most_stated(rows: int) -> int:
    """The largest number of vertices that a table of so many edges is believed to have."""
    return (1 << 20) + 512 * (rows + 1)


def to_arrow(graph: Graph) -> pyarrow.Table:
    """See `Graph.to_arrow`."""
    pa = import_pyarrow()
    source, target, weights = edge_columns(graph)
    columns = {"source": id_array(pa, source), "target": id_array(pa, target)}
    if weights is not None:
        columns["weight"] = pa.array(weights)
    table = pa.table(columns)
    if graph.original_ids is None:
        table = table.replace_schema_metadata({_VERTICES: str(graph.n).encode()})
    return table


def id_array(pa: Any, ids: np.ndarray) -> Any:
    """Arrow array of ids; text when they are names."""
    if ids.dtype.kind in "iu":
        return pa.array(ids)
    names = ids.tolist()
    if not all(isinstance(name, str) for name in names):
        raise UsageError("an Arrow table holds ids that are integers or text; others are in original_ids")
    try:
        return pa.array(names, pa.large_string())
    except UnicodeEncodeError as error:
        raise UsageError(f"an Arrow table holds text of Unicode, not the name {error.object!r}") from None
