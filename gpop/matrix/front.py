"""``MatrixProgram``: what a user of the matrix view writes, and the vertex program that is made of it.

How its functions become those of a vertex program: translation.py. So kernels, modes, strategies and targets
are those of any program: row r is vertex r, its active neighbours are the frontier, and y is written by the
owner of its row. A row that hears of no active neighbour is not updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from gpop.execution.run import Run, run
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.matrix.edges import matrix_of
from gpop.matrix.translation import translated
from gpop.program.fields import VertexField
from gpop.program.program import Program


class MatrixProgram(Program):
    """Base class of programs in the matrix view. Declare properties, write functions of numbers.

    Parameters
    ----------
    graph : Graph
        The graph; ``program.graph`` is the one that is run on, turned as ``Edges_type`` says.

    Raises
    ------
    UsageError
        If it is no `Graph`.

    What a program declares
    -----------------------
    Edges_type : "in-edges", "out-edges" or "all-edges"
        Along which edges a row visits its neighbours: y = A^T x, A x, or both.
    Max_iteration : int or None
        Most iterations; None: until no row changes.
    Node_property : dict
        Name of each property: (type, value of every vertex at first). ``"y"`` says the same of the vector of
        results, whose value is what `Reduce` begins with; it may be left out where that is a fold, which then
        is computed in the type of the first property.
    Gather : function
        What a row gets of an active neighbour.
    Reduce : function, or "min", "max", "add", "or"
        ``y`` and a ``value`` of `Gather` to the new y. A fold by name lets every target combine.
    Update : function, or a dict of functions
        The new value of the first property, or of each that it names, of a row that got something. A row is
        active in the next iteration if one of them differs from before.
    Visited : function, optional
        Whether a row needs no more: it is skipped, or its visit ends there (bottom-up).

    The functions are static, and say by the names of their arguments what they want: properties, ``node``,
    ``out_degree`` (the rows that visit a vertex), ``iteration`` and parameters, of the neighbour in `Gather`
    and of the row elsewhere; ``y``; ``value`` in `Reduce`; in `Gather` ``weight``, the element of the matrix,
    beside which it may have one of the neighbour's. What depends on both ends is computed in `Reduce`.

    Other declarations are those of `Program`: ``all_active``, ``inactive_message``, parameters.

    Examples
    --------
    Shortest paths, HPGraph's Algorithm 1:

    >>> import gpop
    >>> from gpop.matrix import MatrixProgram
    >>> class Paths(MatrixProgram):
    ...     Edges_type = "in-edges"
    ...     Node_property = {"distance": (np.uint32, 99)}
    ...     Reduce = "min"
    ...     @staticmethod
    ...     def Gather(distance, weight):
    ...         return distance + weight
    ...     @staticmethod
    ...     def Update(y, distance):
    ...         return min(y, distance)
    >>> program = Paths(gpop.Graph.from_edges([0, 0, 1], [1, 2, 2], np.array([2, 7, 3], np.uint32)))
    >>> program.distance[0] = 0
    >>> program.run(frontier=[0], target="python").iterations, program.distance.tolist()
    (3, [0, 2, 5])
    """

    Edges_type: ClassVar[str] = "in-edges"
    Max_iteration: ClassVar[int | None] = None
    Node_property: ClassVar[dict[str, tuple[Any, Any]]] = {}
    Gather: ClassVar[Callable]
    Reduce: ClassVar[Callable | str]
    Update: ClassVar[Callable | dict[str, Callable]]
    Visited: ClassVar[Callable | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, made in translated(cls).items():
            setattr(cls, name, made)
            if isinstance(made, VertexField):
                made.__set_name__(cls, name)
        super().__init_subclass__(**kwargs)

    def __init__(self, graph: Graph) -> None:
        expect_graph(graph, type(self).__name__)
        super().__init__(matrix_of(graph, self.Edges_type))

    def run(
        self,
        frontier: Iterable[int] | np.ndarray | None = None,
        *,
        iterations: int | None = None,
        **options: Any,
    ) -> Run:
        """PREPROCESS is done: SPMV and APPLY in turn until no row is active, or ``Max_iteration``.

        Parameters
        ----------
        frontier : array of int, optional
            Vertices that are active at the start; all when not given.
        iterations : int, optional
            In place of ``Max_iteration``.
        **options
            As for `gpop.run`: ``mode="hyb"`` on a GPU is HPGraph's layout.

        Returns
        -------
        Run
            As of `gpop.run`.

        Raises
        ------
        UsageError
            For an option that does not fit.

        Examples
        --------
        >>> import gpop
        >>> class Largest(MatrixProgram):
        ...     Node_property = {"label": (np.int64, 0)}
        ...     Reduce = "max"
        ...     @staticmethod
        ...     def Gather(label):
        ...         return label
        ...     @staticmethod
        ...     def Update(y, label):
        ...         return max(y, label)
        >>> program = Largest(gpop.Graph.from_edges([0, 1], [1, 2]))
        >>> program.label[:] = [7, 2, 3]
        >>> program.run(iterations=1, target="python").iterations, program.label.tolist()
        (1, [7, 7, 3])
        """
        return run(
            self, frontier, iterations=self.Max_iteration if iterations is None else iterations, **options
        )
