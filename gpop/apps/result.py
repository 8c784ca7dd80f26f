"""What every one-call function returns besides its own fields: the run, its trace, and answers with names.

Each field of a result says what it holds (holds.py). By that ``reorder=`` brings it back into the ids of
the given graph (reorder.py), and tables name the vertices as the input did (tables.py). A class with a field
that does not say so is refused when it is defined: a vertex in the ids of another order looks like any
other number.

A result refers to its graph, for names and paths. A pickle or copy of it takes the names along and leaves
the graph behind, whose edges may be a thousand times as large.
"""

from __future__ import annotations

import inspect
from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

import gpop
from gpop.apps.holds import Holds as Holds
from gpop.apps.holds import holds as holds
from gpop.common.errors import ProgramError, UsageError
from gpop.common.on_demand import WithDemands
from gpop.graph.names import named, names_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from gpop.apps.tables import Top


@dataclass(frozen=True, kw_only=True)
class AppResult(WithDemands):
    """Base of the results: ``run`` (`gpop.Run`), ``trace`` (`gpop.Trace`), ``graph``, and tables with names.

    Methods take and give vertices as the input called them: by ``graph.original_ids``, or by their index
    where the graph has none.
    """

    run: gpop.Run = field(repr=False)
    graph: gpop.Graph | None = field(default=None, repr=False, compare=False)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in inspect.get_annotations(cls):
            declared = cls.__dict__.get(name)
            if not (isinstance(declared, Field) and isinstance(declared.metadata.get("holds"), Holds)):
                raise ProgramError(f"{cls.__name__}.{name}: expected a field that says what it holds")

    @property
    def trace(self) -> gpop.Trace:
        """One record per iteration."""
        return self.run.trace

    @property
    def original_ids(self) -> np.ndarray | None:
        """What each vertex was called where the graph came from; None where that is its index."""
        return self.__dict__.get("_ids") if self.graph is None else self.graph.original_ids

    def of(self, graph: gpop.Graph) -> Self:
        """This result, which now knows that it is about ``graph``."""
        object.__setattr__(self, "graph", graph)
        return self

    def vertex_of(self, original_id: Any) -> int:
        """The vertex with this original id; where the graph has none, the vertex with this index."""
        if self.graph is not None:
            return self.graph.vertex_of(original_id)
        return named(self.original_ids, original_id)

    def names_of(self, vertices: np.ndarray) -> list[Any]:
        """The original ids of some vertices; their indices where the graph has none."""
        return names_of(self.original_ids, vertices).tolist()

    def name_of(self, vertex: int) -> Any:
        """The original id of a vertex; its index where the graph has none."""
        return self.names_of(np.array([vertex]))[0]

    def _needs_whole(self, values: np.ndarray, what: str) -> None:
        """Refuse what the values of a rank's own part cannot tell; a part lacks one partition at least."""
        run = self.run
        if run.part is not None and values.size <= (run.partitions - 1) * run.partition_size:
            raise UsageError(
                f"{what} needs the whole answer, and this rank has that of {values.size} vertices from "
                f"{run.part[0]} on: expected gather=True"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "graph": None, "_ids": self.original_ids}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each vertex, or for each that the result lists.

        Returns
        -------
        pandas.DataFrame
            Column ``vertex`` (original ids), then one for each field about vertices. What may lack values
            (unreached distances) has a nullable type, such as ``Int32`` instead of int32.

        Examples
        --------
        >>> pandas = __import__("pytest").importorskip("pandas")
        >>> graph = gpop.read_edges({"from": ["a", "b", "x"], "to": ["b", "c", "a"]})
        >>> gpop.bfs(graph, "a").to_pandas()
          vertex parent  level
        0      a      a      0
        1      b      a      1
        2      x   <NA>   <NA>
        3      c      b      2
        """
        from gpop.apps.tables import columns
        from gpop.interop.result_tables import pandas_frame

        return pandas_frame(columns(self))

    def to_arrow(self) -> pyarrow.Table:
        """The same table for Arrow: ids are integers or text, missing values null.

        Returns
        -------
        pyarrow.Table

        Examples
        --------
        >>> pyarrow = __import__("pytest").importorskip("pyarrow")
        >>> gpop.bfs(gpop.Graph.from_edges([0, 2], [1, 0]), 0).to_arrow()["level"].to_pylist()
        [0, 1, None]
        """
        from gpop.apps.tables import columns
        from gpop.interop.result_tables import arrow_table

        return arrow_table(columns(self))

    def to_polars(self) -> polars.DataFrame:
        """The same table for Polars, missing values null.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> polars = __import__("pytest").importorskip("polars")
        >>> gpop.bfs(gpop.Graph.from_edges([0, 2], [1, 0]), 0).to_polars()["level"].to_list()
        [0, 1, None]
        """
        from gpop.apps.tables import columns
        from gpop.interop.result_tables import polars_frame

        return polars_frame(columns(self))

    def series(self, name: str) -> pandas.Series:
        """One column of `to_pandas`, found by original ids.

        Parameters
        ----------
        name : str
            A column.

        Raises
        ------
        UsageError
            If the result has no such column.

        Examples
        --------
        >>> pandas = __import__("pytest").importorskip("pandas")
        >>> graph = gpop.read_edges({"from": ["a", "b"], "to": ["b", "c"]})
        >>> int(gpop.bfs(graph, "a").series("level")["c"])
        2
        """
        from gpop.apps.tables import column_named
        from gpop.interop.result_tables import pandas_series

        return pandas_series(*column_named(self, name), name)

    def top(self, count: int = 10, by: str | None = None) -> Top:
        """The vertices with the largest values, the largest first; the largest components.

        Parameters
        ----------
        count : int
            At most so many.
        by : str, optional
            A column of numbers; the first one when not given. Where there is only the component of each
            vertex, the components with most vertices.

        Returns
        -------
        Top
            A list of pairs (original id, value), which is shown as a table.

        Examples
        --------
        >>> graph = gpop.read_edges({"from": ["a", "b", "c"], "to": ["b", "c", "d"]})
        >>> gpop.bfs(graph, "a").top(2)
        vertex  level
        d           3
        c           2
        """
        from gpop.apps.tables import top

        return top(self, count, by)

    def plot(self, by: str | None = None, ax: Any = None) -> Any:
        """A histogram of a column; needs matplotlib.

        Parameters
        ----------
        by : str, optional
            A column of numbers; the first one when not given.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure when not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from gpop.apps.show import plot

        return plot(self, by, ax)

    def _repr_html_(self) -> str:
        from gpop.apps.show import html

        return html(self)
