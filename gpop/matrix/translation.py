"""From the matrix view to a vertex program: what each function of a `MatrixProgram` becomes.

==========  ================================  ===========================================================
HPGraph     says                              becomes
==========  ================================  ===========================================================
PREPROCESS  ``Edges_type, Node_property``     the graph that is run on, a vertex field of each property, y
SPMV        ``Gather``                        ``scatterFunc``; with a weight ``applyWeight``
SPMV        ``Reduce``                        ``gatherFunc``, which keeps y; ``combine`` where it is a fold
SPMV        ``Visited`` (bottom-up)           ``needsFunc``
APPLY       ``Update``                        ``filterFunc``, which empties y again
==========  ================================  ===========================================================

They are written as text, in which every argument of the user's stands as what it means, and compiled; they
call the user's own.
"""

from __future__ import annotations

import inspect
import keyword
import types
from typing import Any

from gpop.common.errors import ProgramError
from gpop.matrix.edges import EDGES_TYPES
from gpop.program.fields import Parameter, VertexField
from gpop.program.folds import identity
from gpop.program.program import Program

FOLDS = {
    "min": "if value < self.y[node]:\n        self.y[node] = value\n        return True\n    return False",
    "max": "if value > self.y[node]:\n        self.y[node] = value\n        return True\n    return False",
    "add": "self.y[node] += value\n    return True",
    "or": "before = self.y[node]\n    self.y[node] = before | value\n    return self.y[node] != before",
}
"""Bodies of ``gatherFunc`` where ``Reduce`` is the name of a fold."""

TAKEN = (
    "value", "weight", "node",  # stand for something else in the functions
    "run", "Edges_type", "Max_iteration", "Node_property", "Gather", "Reduce", "Update", "Visited",
    *dir(Program),
)  # fmt: skip
"""Names that no property may have: it would take the place of what a program has under them."""


def translated(cls: type[Any]) -> dict[str, Any]:
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
    elif cls.needsFunc is not Program.needsFunc:  # of a class above, whose `Visited` is no longer looked at
        made["needsFunc"] = Program.needsFunc
    return made | {"combine": fold if isinstance(fold, str) else None}


def _fields(cls: type[Any], fold: Any) -> dict[str, VertexField]:
    """A vertex field of every property, and y."""
    fields = {}
    for name, given in cls.Node_property.items():
        is_name = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
        taken = not is_name or name in TAKEN or name in vars(cls)
        if taken or not (isinstance(given, tuple) and len(given) == 2):
            expected = "another name" if taken else "(type, value)"
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

    def __init__(self, cls: type[Any], fields: dict[str, VertexField]) -> None:
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
