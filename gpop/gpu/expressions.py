"""The right-hand sides of one typed function as C++ expressions.

A tuple, a range and an iterator over one have no C++ type: they are several variables, their `parts`, and
exist only while the text is written. A range's parts are start, stop and step, its iterator's the next
value, step and how many remain, a step of the iterator's the value and whether there was one.
"""

from __future__ import annotations

import inspect
import operator
from types import FunctionType
from typing import Any

import numpy as np
from numba import typeof, types

from gpop.common.numba_private import ir
from gpop.gpu import calls, operations
from gpop.gpu.c_types import Names, Unknown, c_type, cast, constant, plain, truth
from gpop.program.typed_ir import TypedFunction


def is_number(value: Any) -> bool:
    """Whether a Python value is one scalar constant."""
    return isinstance(value, (bool, int, float, np.bool_, np.number))


def parts_of(kind: Any) -> list[Any] | None:
    """Types of the variables that a value of this type consists of; None for a scalar."""
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return [plain(part) for part in kind]
    if isinstance(kind, types.RangeType):
        return [kind.dtype] * 3
    if isinstance(kind, types.RangeIteratorType):
        return [kind.yield_type] * 3
    if isinstance(kind, types.Pair):
        return [kind.first_type, kind.second_type]
    return None


class Expressions:
    """What the variables of one function are, and the text of every value that is assigned to one."""

    def __init__(self, program: Any, typed: TypedFunction, has_self: bool) -> None:
        self.program, self.typed = program, typed
        self.names = Names()
        self.parameters = [self.names(name) for name in typed.arguments]
        if has_self:
            self.parameters[0] = "self"
        self.texts: dict[str, str] = {}  # variables that are written where they are used
        self.fields: dict[str, str] = {}  # variables that are an array of the state
        self.callees: dict[str, Any] = {}  # variables that are a function, a class or a module
        self.declared: dict[str, str] = {}
        self.lines: list[str] = []

    def kind(self, variable: Any) -> Any:
        """Numba's type of a variable."""
        return self.typed.types[variable.name]

    def text(self, variable: Any) -> str:
        """A variable where it is used."""
        return self.texts.get(variable.name) or self.names(variable.name)

    def cell(self, field: str) -> str:
        """A field at the one vertex that a function may touch, its last argument."""
        return f"self.{self.program.arrays[field]}({self.parameters[-1]})"

    def value(self, value: Any, kind: Any) -> str:
        """A scalar right-hand side, converted to the type of what it is assigned to."""
        if isinstance(value, ir.Arg):
            return cast(self.parameters[value.index], self.typed.argument_types[value.index], kind)
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return constant(value.value, kind)
        if isinstance(value, ir.Var):
            return self.converted(value, kind)
        if not isinstance(value, ir.Expr):
            raise Unknown(f"{type(value).__name__}: {value}")
        if value.op == "cast":
            return self.converted(value.value, kind)
        if value.op == "getattr":
            return self._attribute(value, kind)
        if value.op in ("getitem", "static_getitem"):
            return self._item(value, kind)
        if value.op in ("binop", "inplace_binop"):
            signature = self.typed.signatures[value]
            sides = [
                self.converted(v, k) for v, k in zip((value.lhs, value.rhs), signature.args, strict=True)
            ]
            return cast(operations.binary(value.fn, signature, *sides), signature.return_type, kind)
        if value.op == "unary":
            signature = self.typed.signatures[value]
            text = operations.unary(value.fn, signature, self.converted(value.value, signature.args[0]))
            return cast(text, signature.return_type, kind)
        if value.op == "call":
            return self._call(value, kind)
        if value.op in ("pair_first", "pair_second"):
            return self._part(value.value, value.op == "pair_second", kind)
        raise Unknown(f"{value.op}: {value}")

    def converted(self, variable: Any, kind: Any) -> str:
        """A variable in another type; an answer that may be None is only asked whether it is true."""
        if isinstance(self.kind(variable), types.NoneType):
            return "false"
        if isinstance(kind, types.Optional):
            return truth(self.text(variable), self.kind(variable))
        return cast(self.text(variable), self.kind(variable), kind)

    def _attribute(self, value: Any, kind: Any) -> str:
        if value.value.name in self.callees:
            return constant(getattr(self.callees[value.value.name], value.attr), kind)
        if value.attr in self.program.scalars and isinstance(self.kind(value.value), types.BaseNamedTuple):
            return f"self.{self.program.scalars[value.attr]}"
        struct = self.kind(value.value)
        if getattr(struct, "instance_class", None) in self.program.structs:
            member = struct[struct.fields.index(value.attr)]
            return cast(f"{self.text(value.value)}.{value.attr}", member, kind)
        raise Unknown(f".{value.attr} of {self.kind(value.value)}")

    def _item(self, value: Any, kind: Any) -> str:
        if value.value.name in self.fields:
            return cast(self.cell(self.fields[value.value.name]), self.kind(value.value).dtype, kind)
        if value.op == "static_getitem" and isinstance(value.index, int) and parts_of(self.kind(value.value)):
            return self._part(value.value, value.index, kind)
        raise Unknown(f"an element of {self.kind(value.value)}")

    # --- calls ---------------------------------------------------------------------------------

    def _arguments(self, value: Any, signature: Any) -> list[str]:
        """Texts of a call's arguments, in the types of the signature."""
        variables = [*value.args, *(v for _, v in value.kws)]
        if value.vararg is not None or len(signature.args) != len(variables):
            raise Unknown(f"this call of {self._name(value)}")
        return [self.converted(v, k) for v, k in zip(variables, signature.args, strict=True)]

    def _name(self, value: Any) -> str:
        function = self.callees.get(value.func.name)
        if self.program.is_helper(function):
            return function.__code__.co_name
        return getattr(function, "__name__", str(self.kind(value.func)))

    def _call(self, value: Any, kind: Any) -> str:
        signature, function = self.typed.signatures[value], self.callees.get(value.func.name)
        if self.program.is_helper(function):
            return self._helper(value, function, kind)
        if len(signature.args) == 1 and isinstance(signature.args[0], types.BaseTuple):  # min and max
            signature = signature.replace(args=tuple(signature.args[0]))
        texts = self._arguments(value, signature)
        if isinstance(self.kind(value.func), types.NumberClass):
            return cast(cast(texts[0], signature.args[0], signature.return_type), signature.return_type, kind)
        return cast(calls.call(function, signature, texts), signature.return_type, kind)

    def _helper(self, value: Any, function: FunctionType, kind: Any) -> str:
        """A call of the user's own function: named arguments and defaults are put in their places."""
        bound = inspect.signature(function).bind(*value.args, **dict(value.kws))
        bound.apply_defaults()
        kinds, texts = [], []
        for given in bound.arguments.values():
            if isinstance(given, ir.Var):
                kinds.append(plain(self.kind(given)))
                texts.append(self.text(given))
            elif is_number(given):
                kinds.append(typeof(given))
                texts.append(constant(given, kinds[-1]))
            else:
                raise Unknown(f"this call of {function.__code__.co_name}")
        name, result = self.program.helper(function, tuple(kinds))
        return cast(f"{name}({', '.join(texts)})", result, kind)

    # --- values of several parts ---------------------------------------------------------------

    def _part(self, variable: Any, index: int, kind: Any) -> str:
        parts = parts_of(self.kind(variable))
        return cast(self.names(f"{variable.name}.{index % len(parts)}"), parts[index], kind)

    def declare(self, name: str, kind: Any) -> str:
        """C++ name of a variable that is declared at the top of the function."""
        word = self.names(name)
        self.declared.setdefault(word, c_type(kind))
        return word

    def assign_parts(self, target: str, value: Any, kinds: list[Any]) -> None:
        """A right-hand side that is a tuple, a range, an iterator or a step of one."""
        texts = self._parts(value, kinds)
        names = [self.declare(f"{target}.{i}", kind) for i, kind in enumerate(kinds)]
        self.lines += [f"{name} = {text};" for name, text in zip(names, texts, strict=True)]
        if isinstance(value, ir.Expr) and value.op == "iternext":
            position, step, left = (self.names(f"{value.value.name}.{i}") for i in range(3))
            step_on = f"{position} = ::gpop::add({position}, {step}); --{left};"
            self.lines.append(f"if ({names[1]}) {{ {step_on} }}")

    def _parts(self, value: Any, kinds: list[Any]) -> list[str]:
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)) and all(map(is_number, value.value)):
            return [constant(v, kind) for v, kind in zip(value.value, kinds, strict=True)]
        if isinstance(value, ir.Var):
            return [self._part(value, i, kind) for i, kind in enumerate(kinds)]
        if isinstance(value, ir.Expr):
            if value.op == "build_tuple":
                return [self.converted(v, kind) for v, kind in zip(value.items, kinds, strict=True)]
            if value.op in ("exhaust_iter", "cast"):
                return [self._part(value.value, i, kind) for i, kind in enumerate(kinds)]
            if value.op == "getiter" and isinstance(self.kind(value.value), types.RangeType):
                start, stop, step = (self._part(value.value, i, kinds[0]) for i in range(3))
                return [start, step, f"::gpop::range_count({start}, {stop}, {step})"]
            if value.op == "iternext":
                left = cast(self.names(f"{value.value.name}.2"), kinds[0], self._signed(kinds[0]))
                return [self.names(f"{value.value.name}.0"), f"({left} > 0)"]
            if value.op == "call":
                return self._call_for_parts(value, kinds)
        raise Unknown(f"{value}")

    @staticmethod
    def _signed(kind: Any) -> Any:
        return types.int32 if kind.bitwidth == 32 else types.int64

    def _call_for_parts(self, value: Any, kinds: list[Any]) -> list[str]:
        function, signature = self.callees.get(value.func.name), self.typed.signatures[value]
        if function is range:
            texts = self._arguments(value, signature)
            start, stop, step = (["0"] if len(texts) == 1 else []) + texts + (["1"] if len(texts) < 3 else [])
            return [start, stop, step]
        if function is divmod:
            texts, single = self._arguments(value, signature), signature.replace(return_type=kinds[0])
            return [operations.binary(op, single, *texts) for op in (operator.floordiv, operator.mod)]
        raise Unknown(f"a call of {self._name(value)} that gives {signature.return_type}")
