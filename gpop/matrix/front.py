"""``MatrixProgram``: what a user of the matrix view writes, and the vertex program that is made of it.

==========  ================================  ===========================================================
HPGraph     says                              becomes
==========  ================================  ===========================================================
PREPROCESS  ``Edges_type, Node_property``     the graph that is run on, a vertex field of each property, y
SPMV        ``Gather``                        ``scatterFunc``; with a weight ``applyWeight``
SPMV        ``Reduce``                        ``gatherFunc``, which keeps y; ``combine`` where it is a fold
SPMV        ``Visited`` (bottom-up)           ``needsFunc``
APPLY       ``Update``                        ``filterFunc``, which empties y again
==========  ================================  ===========================================================

So kernels, modes, strategies and targets are those of any program: row r is vertex r, its active neighbours
are the frontier, and y is written by the owner of its row. A row that hears of no active neighbour is not
updated.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from gpop.common.errors import ProgramError
from gpop.execution.run import Run, run
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.matrix.edges import EDGES_TYPES, matrix_of
from gpop.program.folds import identity
from gpop.program.program import Parameter, Program, VertexField

FOLDS = {
    "min": "if value < self.y[node]:\n        self.y[node] = value\n        return True\n    return False",
    "max": "if value > self.y[node]:\n        self.y[node] = value\n        return True\n    return False",
    "add": "self.y[node] += value\n    return True",
    "or": "before = self.y[node]\n    self.y[node] = before | value\n    return self.y[node] != before",
}
"""Bodies of ``gatherFunc`` where ``Reduce`` is the name of a fold."""

TAKEN = ("value", "weight", "node")
"""Names that stand for something else in the functions."""


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
        for name, made in _translated(cls).items():
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


# --- from the matrix view to a vertex program -----------------------------------------------------------


def _translated(cls: type[MatrixProgram]) -> dict[str, Any]:
    """Fields and functions of the vertex program, by name, and its ``combine``."""
    if cls.Edges_type not in EDGES_TYPES:
        raise ProgramError(
            f"{cls.__name__}.Edges_type = {cls.Edges_type!r}: expected one of {', '.join(EDGES_TYPES)}"
        )
    fold = getattr(cls, "Reduce", None)
    if isinstance(fold, str) and fold not in FOLDS:
        raise ProgramError(
            f"{cls.__name__}.Reduce = {fold!r}: expected a function or one of {', '.join(FOLDS)}"
        )
    fields = _fields(cls, fold)
    view = _View(cls, fields)
    made: dict[str, Any] = {
        **fields,
        **view.gather(),
        "gatherFunc": view.reduce(),
        "filterFunc": view.update(),
    }
    if cls.Visited is not None:
        made["needsFunc"] = view.written("needsFunc", "self, node", f"return not {view.call('Visited')}")
    return made | {"combine": fold if isinstance(fold, str) else None}


def _fields(cls: type[MatrixProgram], fold: Any) -> dict[str, VertexField]:
    """A vertex field of every property, and y."""
    fields = {}
    for name, given in cls.Node_property.items():
        if name in TAKEN or not (isinstance(given, tuple) and len(given) == 2):
            expected = "another name" if name in TAKEN else "(type, value)"
            raise ProgramError(f"{cls.__name__}.Node_property[{name!r}] = {given!r}: expected {expected}")
        fields[name] = VertexField(*given)
    if not {*fields} - {"y"}:
        raise ProgramError(f"{cls.__name__}.Node_property: expected a property, {{name: (type, value)}}")
    if "y" not in fields:
        if not isinstance(fold, str):
            raise ProgramError(
                f"{cls.__name__}.Node_property has no y: expected (type, what Reduce begins with)"
            )
        dtype = next(iter(fields.values())).dtype
        fields["y"] = VertexField(dtype, identity(fold, dtype))
    return fields


class _View:
    """The functions of one class, and what their arguments stand for."""

    def __init__(self, cls: type[MatrixProgram], fields: dict[str, VertexField]) -> None:
        self.cls, self.fields = cls, fields
        self.properties = [name for name in fields if name != "y"]
        self.scope: dict[str, Any] = {"NOTHING": fields["y"].dtype.type(fields["y"].fill)}
        self.scalars = {"iteration": "self.iteration"}
        declared = cls._declared(Parameter)  # scalar_parameters() knows those of a class that is complete
        self.scalars |= {name: f"self.{name}" for name in declared}
        self.of_a_vertex = {name: f"self.{name}[node]" for name in (*self.properties, "out_degree")}
        self.of_a_vertex["node"] = "node"

    def function(self, name: str, given: Any) -> types.FunctionType:
        """A static function, found under a name."""
        given = given.__func__ if isinstance(given, staticmethod) else given
        if not isinstance(given, types.FunctionType):
            raise ProgramError(f"{self.cls.__name__} has no {name}: expected a static function")
        return given

    def place(self, name: str, function: types.FunctionType) -> str:
        """Where the user has it."""
        code = function.__code__
        return f"{code.co_filename}:{code.co_firstlineno}: {self.cls.__name__}.{name}"

    def call(self, name: str, given: Any = None, **more: str) -> str:
        """A call of the function: each argument by what it stands for, ``more`` included."""
        if given is None:
            given = inspect.getattr_static(self.cls, name, None)
        function = self.function(name, given)
        places = self.scalars | self.of_a_vertex | {"y": "self.y[node]"} | more
        if name == "Gather":
            del places["y"]
        word = name.replace("[", "_").replace("]", "")
        self.scope[word] = function
        arguments = [*inspect.signature(function).parameters]
        for argument in arguments:
            if argument not in places:
                wants = f"{self.place(name, function)} wants {argument!r}"
                raise ProgramError(f"{wants}: expected some of {', '.join(places)}")
        return f"{word}({', '.join(places[argument] for argument in arguments)})"

    def written(self, name: str, arguments: str, body: str) -> types.FunctionType:
        """A function of the vertex program with this body."""
        source = f"def {name}({arguments}):\n    {body}\n"
        exec(compile(source, f"<{self.cls.__name__} in the matrix view>", "exec"), self.scope)
        return self.scope.pop(name)

    def gather(self) -> dict[str, types.FunctionType]:
        """``scatterFunc``, and ``applyWeight`` where `Gather` has a weight."""
        function = self.function("Gather", inspect.getattr_static(self.cls, "Gather", None))
        arguments = [*inspect.signature(function).parameters]
        if "weight" not in arguments:
            body = f"return {self.call('Gather')}"
            # None in place of what a class above may have
            return {
                "scatterFunc": self.written("scatterFunc", "self, node", body),
                "applyWeight": _unweighted,
            }
        sent = [argument for argument in arguments if argument in self.of_a_vertex]
        if len(sent) != 1:
            has = f"{self.place('Gather', function)} has weight and {len(sent)} values of the neighbour"
            raise ProgramError(f"{has} ({', '.join(sent)}): expected one")
        call = self.call("Gather", **{sent[0]: "value", "weight": "weight"})
        return {
            "scatterFunc": self.written("scatterFunc", "self, node", f"return {self.of_a_vertex[sent[0]]}"),
            "applyWeight": self.written("applyWeight", "self, value, weight", f"return {call}"),
        }

    def reduce(self) -> types.FunctionType:
        """``gatherFunc``: y hears of a value, unless its row has no use for more."""
        fold = inspect.getattr_static(self.cls, "Reduce", None)
        if isinstance(fold, str):
            body = FOLDS[fold]
        else:
            body = f"self.y[node] = {self.call('Reduce', value='value')}\n    return True"
        if self.cls.Visited is not None:
            body = f"if {self.call('Visited')}:\n        return False\n    {body}"
        return self.written("gatherFunc", "self, value, node", body)

    def update(self) -> types.FunctionType:
        """``filterFunc``: all new values of what lies there now, then they are stored and y is emptied."""
        given = inspect.getattr_static(self.cls, "Update", None)
        updates = given if isinstance(given, dict) else {self.properties[0]: given}
        unknown = [name for name in updates if name not in self.properties]
        if unknown or not updates:
            raise ProgramError(
                f"{self.cls.__name__}.Update of {', '.join(unknown) or 'nothing'}: expected some of "
                f"{', '.join(self.properties)}"
            )
        lines = ["y = self.y[node]"]
        for name, function in updates.items():
            what = f"Update[{name}]" if isinstance(given, dict) else "Update"
            lines += [f"was_{name} = self.{name}[node]", f"new_{name} = {self.call(what, function, y='y')}"]
        lines += [f"self.{name}[node] = new_{name}" for name in updates]
        lines += ["self.y[node] = NOTHING"]
        lines += ["return " + " or ".join(f"self.{name}[node] != was_{name}" for name in updates)]
        return self.written("filterFunc", "self, node", "\n    ".join(lines))


_unweighted = Program.applyWeight
"""In place of what a class above may have made."""
