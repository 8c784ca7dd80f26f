"""Graphs from objects of other libraries and back: SciPy, NetworkX, pandas, Arrow; what `Graph` inherits.

The work is done in `gpop.interop`, which is loaded when one of these is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gpop.common.above import module_above
from gpop.common.flags import as_flag

if TYPE_CHECKING:
    import networkx
    import pandas
    import pyarrow
    import scipy.sparse


class Interchange:
    """``from_`` and ``to_`` methods of `gpop.graph.graph.Graph`."""

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray, *, weighted: bool = True, name: str = "") -> Self:
        """Graph of a square SciPy sparse matrix: entry (u, v) is the edge u -> v and its weight.

        Stored zeros are edges.

        Parameters
        ----------
        matrix : sparse array or matrix, [n, n]
            In any of SciPy's formats.
        weighted : bool
            False: values are no weights. A matrix of booleans never has weights.
        name : str
            For messages and output.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            If it is no sparse matrix, or not square.

        Examples
        --------
        >>> import gpop
        >>> from scipy.sparse import csr_array
        >>> gpop.Graph.from_scipy(csr_array([[0, 2.5], [0, 0]])).weights
        array([2.5])
        """
        weighted = as_flag("weighted", weighted)
        return module_above("interop.scipy_matrix").from_scipy(matrix, weighted, name)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, *, weight: str | None = "weight") -> Self:
        """Graph of a NetworkX graph; an undirected one gives both directions of every edge.

        Nodes other than 0 .. n-1 are kept in ``original_ids``.

        Parameters
        ----------
        graph : networkx.Graph
            Or a DiGraph, MultiGraph, MultiDiGraph.
        weight : str or None
            Attribute of the edges that is their weight, 1 where an edge lacks it. When no edge has it, or
            for None, there are no weights.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            If it is no NetworkX graph, or a weight is no number.

        Examples
        --------
        >>> import gpop
        >>> networkx = __import__("pytest").importorskip("networkx")
        >>> gpop.Graph.from_networkx(networkx.path_graph(["a", "b", "c"])).original_ids
        array(['a', 'b', 'c'], dtype=object)
        """
        return module_above("interop.networkx_graph").from_networkx(graph, weight)

    @classmethod
    def from_pandas(
        cls,
        frame: pandas.DataFrame,
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        *,
        n: int | None = None,
        duplicates: str = "keep",
        name: str = "",
    ) -> Self:
        """Graph of a pandas DataFrame with one row for each edge.

        Parameters
        ----------
        frame : pandas.DataFrame
            A row for each edge.
        source, target : label, optional
            Columns of the ends; by default those with a usual name (source, src, from, ...; target,
            dst, to, ...), else the first two. Integers are ids; what is sparse is numbered and kept
            in ``original_ids`` like in text edge lists. Anything else is a name, numbered in the
            order of first appearance (all sources, then all targets).
        weight : label or False, optional
            Column of the weights; by default one that is called weight, w, ...; False for none.
        n : int, optional
            Number of vertices, for ids that are 0 .. n-1.
        duplicates : "keep", "first", "min", "max" or "sum"
            As in `from_edges`.
        name : str
            For messages and output.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            If there is no such column, a column has gaps, or ids and weights are of no use.

        Examples
        --------
        >>> import gpop
        >>> pandas = __import__("pytest").importorskip("pandas")
        >>> frame = pandas.DataFrame({"from": ["a", "b", "a"], "to": ["b", "c", "b"], "w": [1.5, 2, 3]})
        >>> graph = gpop.Graph.from_pandas(frame, duplicates="sum")
        >>> graph.original_ids.tolist(), graph.indices.tolist(), graph.weights.tolist()
        (['a', 'b', 'c'], [1, 2], [4.5, 2.0])
        """
        return module_above("interop.pandas_frame").from_pandas(
            frame, source, target, weight, n, duplicates, name
        )

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        source: str | None = None,
        target: str | None = None,
        weight: Any = None,
        *,
        n: int | None = None,
        duplicates: str = "keep",
        name: str = "",
    ) -> Self:
        """Graph of an edge table with the Arrow C stream interface: pyarrow, Polars, DuckDB, ...

        Needs the package pyarrow.

        Parameters
        ----------
        table : object with the Arrow C stream interface
            A row for each edge.
        source, target : str, optional
            Columns of the ends; ids and names are treated as in `from_pandas`.
        weight : str or False, optional
            Column of the weights; by default one that is called weight, w, ...; False for none.
        n : int, optional
            Number of vertices, for ids that are 0 .. n-1.
        duplicates : "keep", "first", "min", "max" or "sum"
            As in `from_edges`.
        name : str
            For messages and output.

        Returns
        -------
        Graph

        Raises
        ------
        UsageError
            As `from_pandas`, and without pyarrow.

        Examples
        --------
        >>> import gpop
        >>> pyarrow = __import__("pytest").importorskip("pyarrow")
        >>> gpop.Graph.from_arrow(pyarrow.table({"src": [0, 1], "dst": [1, 2], "weight": [5, 7]}))
        Graph(3 vertices, 2 edges, int64 weights)
        """
        return module_above("interop.arrow_table").from_arrow(
            table, source, target, weight, n, duplicates, name
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix; ids are shared with the graph when they fit 31 bits.

        Returns
        -------
        scipy.sparse.csr_array, [n, n]
            With the weights, 1.0 where there are none.

        Examples
        --------
        >>> import gpop
        >>> gpop.Graph.from_edges([0], [1]).to_scipy().toarray()
        array([[0., 1.],
               [0., 0.]])
        """
        return module_above("interop.scipy_matrix").to_scipy(self)

    def to_networkx(self) -> networkx.DiGraph:
        """A NetworkX graph with original ids.

        Returns
        -------
        networkx.DiGraph
            A MultiDiGraph when there are duplicate edges.

        Examples
        --------
        >>> import gpop
        >>> networkx = __import__("pytest").importorskip("networkx")
        >>> gpop.Graph.from_edges([0, 1], [1, 2]).to_networkx().edges
        OutEdgeView([(0, 1), (1, 2)])
        """
        return module_above("interop.networkx_graph").to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with one row for each edge, in the order of CSR.

        Returns
        -------
        pandas.DataFrame
            Columns source, target and, when there are weights, weight; original ids.

        Examples
        --------
        >>> import gpop
        >>> pandas = __import__("pytest").importorskip("pandas")
        >>> gpop.Graph.from_edges([0, 1], [1, 2]).to_pandas().values.tolist()
        [[0, 1], [1, 2]]
        """
        return module_above("interop.pandas_frame").to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with one row for each edge, in the order of CSR.

        Returns
        -------
        pyarrow.Table
            Columns source, target and, when there are weights, weight; original ids.

        Examples
        --------
        >>> import gpop
        >>> pyarrow = __import__("pytest").importorskip("pyarrow")
        >>> gpop.Graph.from_edges([0, 1], [1, 2]).to_arrow().column_names
        ['source', 'target']
        """
        return module_above("interop.arrow_table").to_arrow(self)
