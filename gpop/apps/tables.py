"""Tables of a result: columns with the original ids of vertices, from what its fields say that they hold.

A row for each vertex; where a result lists some vertices with a value beside each, a row for each of these.
A list of vertices beside values for all is a column of bools.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from gpop.apps.holds import Holds, held
from gpop.common import html
from gpop.common.errors import UsageError
from gpop.graph.names import names_of
from gpop.interop.result_tables import Column

GROUPS = {Holds.COMPONENTS: "component", Holds.LABELS: "group"}
"""What holds groups of vertices, and what one is called."""
DENSE = (Holds.VALUES, Holds.VERTICES, *GROUPS)

_TOGETHER = 1024
"""Values of which at first only the highest is looked at."""


class Top(list[tuple[Any, Any]]):
    """Pairs (original id, value), the largest value first; shown as a table, and ``dict`` takes it.

    Examples
    --------
    >>> dict(Top(("vertex", "rank"), [("a", 0.5), ("b", 0.25)]))
    {'a': 0.5, 'b': 0.25}
    """

    def __init__(self, header: tuple[str, str], rows: list[tuple[Any, Any]]) -> None:
        super().__init__(rows)
        self.header = header

    def _cells(self) -> list[tuple[str, str]]:
        return [(str(name), f"{x:.6g}" if isinstance(x, float) else str(x)) for name, x in self]

    def __repr__(self) -> str:
        rows = [self.header, *self._cells()]
        left, right = (max(len(row[i]) for row in rows) for i in (0, 1))
        return "\n".join(f"{name:{left}}  {value:>{right}}" for name, value in rows)

    def _repr_html_(self) -> str:
        return html.table(self.header, self._cells())


def _vertices(result: Any, rows: int) -> np.ndarray:
    """The vertices of so many values: all, or those of a rank's part."""
    first, last = result.run.part or (0, rows)
    return np.arange(rows, dtype=np.uint32) + np.uint32(first if rows == last - first else 0)


def columns(result: Any) -> dict[str, Column]:
    """The table of a result: ``vertex``, then a column for each field about vertices.

    Raises
    ------
    UsageError
        If no field is about vertices.

    Examples
    --------
    >>> import gpop
    >>> found = gpop.sssp(gpop.Graph.from_edges([0, 2], [1, 0], [7, 1]), 0)
    >>> table = columns(found)
    >>> list(table), table["distance"].missing.tolist()
    (['vertex', 'distance', 'reached'], [False, False, True])
    """
    kinds = held(result)
    arrays = {name: np.asarray(getattr(result, name)) for name, what in kinds.items() if _about(what)}
    listed = [name for name in arrays if kinds[name] is Holds.LIST]
    beside = [name for name in arrays if kinds[name] is Holds.BESIDE_LIST]
    dense = [name for name in arrays if kinds[name] in DENSE and arrays[name].ndim == 1]
    if not (dense or listed):
        raise UsageError(f"{type(result).__name__} says nothing about single vertices: {', '.join(kinds)}")
    ids = result.original_ids
    by_list = bool(listed and (beside or not dense))
    rows = arrays[listed[0]] if by_list else _vertices(result, len(arrays[dense[0]]))
    table = {"vertex": Column(names_of(ids, rows))}
    for each in fields(result):
        name = each.name
        title = each.metadata.get("column") or name
        if name in dense:
            table[title] = _dense(result, name, kinds[name], each.metadata.get("missing"), rows, by_list)
        elif name in beside:
            table[title] = Column(arrays[name], _missing(result, arrays[name], each.metadata.get("missing")))
        elif name in listed and not by_list:
            inside = np.zeros(len(rows), np.bool_)
            inside[arrays[name]] = True
            table[title] = Column(inside)
    return table


def _about(what: Holds) -> bool:
    return what in DENSE or what in (Holds.LIST, Holds.BESIDE_LIST)


def _dense(result: Any, name: str, what: Holds, none: Any, rows: np.ndarray, by_list: bool) -> Column:
    values = np.asarray(getattr(result, name))
    missing = values < 0 if what is Holds.VERTICES else _missing(result, values, none)
    if by_list:
        values, missing = values[rows], None if missing is None else missing[rows]
    if what is not Holds.VALUES:
        there = values if missing is None else np.where(missing, 0, values)
        values = names_of(result.original_ids, there)
    return Column(values, missing)


def _missing(result: Any, values: np.ndarray, none: Any) -> np.ndarray | None:
    if none is None:
        return None
    return ~np.asarray(getattr(result, none)) if isinstance(none, str) else values == none


def column_named(result: Any, name: str) -> tuple[Column, Column]:
    """(column of the vertices, this one)."""
    table = columns(result)
    if name not in table:
        raise UsageError(
            f"{type(result).__name__} has no column {name!r}: expected one of {', '.join(table)}"
        )
    return table["vertex"], table[name]


def first_of_numbers(result: Any) -> str | None:
    """The column that is looked at where none is named: the first of numbers, else of groups."""
    for kinds in ((Holds.BESIDE_LIST,), (Holds.VALUES,), GROUPS):
        for name, what in held(result).items():
            values = getattr(result, name) if what in kinds else None
            if values is not None and values.ndim == 1 and values.dtype.kind in "iuf":
                return _title(result, name)
    return None


def _title(result: Any, name: str) -> str:
    """What the column of a field is called."""
    return next(each.metadata["column"] or name for each in fields(result) if each.name == name)


def group_word(result: Any, name: str) -> str | None:
    """What a group is called, where the column is about groups of vertices."""
    kinds = held(result)
    return next((GROUPS.get(kinds[field]) for field in kinds if _title(result, field) == name), None)


def groups_of(result: Any, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """(vertex that it is called by, number of vertices) of every group, where the column is about groups."""
    for field, what in held(result).items():
        if what in GROUPS and _title(result, field) == name:
            return np.unique(getattr(result, field), return_counts=True)
    return None


def present(result: Any, by: str | None) -> tuple[str, np.ndarray, np.ndarray]:
    """(column, vertices, numbers) of the vertices that have one; of groups, their sizes."""
    title = first_of_numbers(result) if by is None else by
    if title is None:
        raise UsageError(f"{type(result).__name__} has no column of numbers")
    sizes = groups_of(result, title)
    if sizes is not None:
        return title, *sizes
    kinds = held(result)
    for each in fields(result):
        what = kinds.get(each.name)
        if what in (Holds.VALUES, Holds.BESIDE_LIST) and _title(result, each.name) == title:
            values = np.asarray(getattr(result, each.name))
            if values.ndim == 1 and values.dtype.kind in "iuf":
                break
    else:
        column_named(result, title)  # there may be none of that name
        raise UsageError(f"column {title!r} holds no numbers to order by")
    listed = next((name for name, held_ in kinds.items() if held_ is Holds.LIST), None)
    beside = what is Holds.BESIDE_LIST
    vertices = getattr(result, listed) if beside else _vertices(result, values.size)
    missing = _missing(result, values, each.metadata["missing"])
    return (title, vertices, values) if missing is None else (title, vertices[~missing], values[~missing])


def top(result: Any, count: int, by: str | None) -> Top:
    """See `AppResult.top`."""
    name, vertices, values = present(result, by)
    grouped = group_word(result, name) is not None
    best = largest(values, count)
    names = names_of(result.original_ids, vertices[best])
    rows = list(zip(names.tolist(), values[best].tolist(), strict=True))
    return Top((name, "vertices") if grouped else ("vertex", name), rows)


def largest(values: np.ndarray, most: int) -> np.ndarray:
    """Positions of the largest values, descending; equal ones in order. Most are never sorted.

    Examples
    --------
    >>> largest(np.array([3, 9, 3, 7], np.uint32), 3).tolist()
    [1, 3, 0]
    """
    candidates = np.arange(values.size)
    if 0 < most < values.size:
        rows = values.size // _TOGETHER
        if rows >= most:
            # In the order of an R-MAT graph's ranks NumPy takes 20 times as long to partition all.
            highest = values[: rows * _TOGETHER].reshape(rows, _TOGETHER).max(axis=1)
            candidates = np.flatnonzero(values >= np.partition(highest, -most)[-most])
        likely = values[candidates]
        candidates = candidates[likely >= np.partition(likely, -most)[-most]]
    backward = candidates[::-1]
    return backward[np.argsort(values[backward], kind="stable")][::-1][: max(most, 0)]
