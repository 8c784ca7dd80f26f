"""Columns with missing values -> pandas, Arrow, Polars.

What may lack values keeps its type: pandas' nullable types, nulls in Arrow and Polars. Whole numbers do not
become floating point, which would lose digits from 2**53 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.interop.arrow_table import id_array, import_pyarrow

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Column(NamedTuple):
    """Values, and where there is none; without ``missing`` there is one everywhere."""

    values: np.ndarray
    missing: np.ndarray | None = None


def import_pandas() -> Any:
    """The module pandas, or one line on how to get it."""
    try:
        import pandas
    except ImportError:
        raise UsageError("a table of pandas needs the package pandas: pip install pandas") from None
    return pandas


def import_polars() -> Any:
    """The module polars, or one line on how to get it."""
    try:
        import polars
    except ImportError:
        raise UsageError("a table of Polars needs the package polars: pip install polars") from None
    return polars


def pandas_array(column: Column) -> Any:
    """The column as pandas keeps it.

    Examples
    --------
    >>> pandas = __import__("pytest").importorskip("pandas")
    >>> pandas_array(Column(np.array([4, 0], np.int32), np.array([False, True])))
    <IntegerArray>
    [4, <NA>]
    Length: 2, dtype: Int32
    """
    pd = import_pandas()
    values, missing = column
    if missing is None:
        return pd.array(values.tolist(), dtype="str") if _text(values) else values
    if values.dtype.kind in "iu":
        return pd.arrays.IntegerArray(values.copy(), missing.copy())
    if values.dtype.kind == "f":
        return np.where(missing, values.dtype.type(np.nan), values)
    names = values.astype(object)
    names[missing] = None
    return pd.array(names, dtype="string") if _text(values) else names


def _text(values: np.ndarray) -> bool:
    """Whether all are text, in an array of text or of objects."""
    return values.dtype.kind == "U" or (
        values.dtype == object and all(isinstance(each, str) for each in values.tolist())
    )


def pandas_frame(columns: dict[str, Column]) -> pandas.DataFrame:
    """A data frame of the columns."""
    pd = import_pandas()
    return pd.DataFrame({name: pandas_array(column) for name, column in columns.items()})


def pandas_series(vertex: Column, column: Column, name: str) -> pandas.Series:
    """A series of a column, with the vertices as its index."""
    pd = import_pandas()
    index = pd.Index(pandas_array(vertex), name="vertex")
    return pd.Series(pandas_array(column), index=index, name=name)


def arrow_table(columns: dict[str, Column]) -> pyarrow.Table:
    """An Arrow table of the columns."""
    pa = import_pyarrow()
    return pa.table({name: _arrow_array(pa, column) for name, column in columns.items()})


def _arrow_array(pa: Any, column: Column) -> Any:
    values, missing = column
    if values.dtype.kind in "fb" or missing is None:
        return id_array(pa, values) if values.dtype.kind in "OU" else pa.array(values, mask=missing)
    if values.dtype.kind in "iu":
        return pa.array(values, mask=missing)
    names = id_array(pa, values)
    return pa.compute.if_else(pa.array(missing), pa.scalar(None, names.type), names)


def polars_frame(columns: dict[str, Column]) -> polars.DataFrame:
    """A data frame of Polars of the columns."""
    pl = import_polars()
    return pl.DataFrame([_polars_series(pl, name, column) for name, column in columns.items()])


def _polars_series(pl: Any, name: str, column: Column) -> Any:
    values, missing = column
    series = pl.Series(name, values.tolist() if values.dtype.kind in "OU" else np.ascontiguousarray(values))
    if missing is None:
        return series
    frame = pl.DataFrame([series, pl.Series("missing", missing)])
    return frame.select(pl.when(~pl.col("missing")).then(pl.col(name)).alias(name))[name]
