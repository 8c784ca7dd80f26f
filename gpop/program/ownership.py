"""The rules of vertex functions, checked in Numba's intermediate form of each, with the user's file and line.

- ``self`` is used only as ``self.field[node]``, ``self.parameter``, ``self.out_degree[node]`` and
  ``self.iteration``; the index is the argument ``node`` itself: what a call may touch is the vertex it owns;
- ``scatterFunc``, ``applyWeight``, ``needsFunc`` and ``priorityFunc`` store nothing; nobody stores to
  ``out_degree`` or a parameter;
- every function that must answer returns a value, and none raises;
- none has an effect outside the program or a hidden state, such as ``print`` and ``np.random`` (effects.py).
"""

from __future__ import annotations

import dis
import types
from typing import Any

import numpy as np

from gpop.common.errors import ProgramError
from gpop.program.effects import first_effect
from gpop.program.functions import ARGUMENTS
from gpop.program.program import BUILT_IN, Program
from gpop.program.references import helpers_of

READ_ONLY_FUNCTIONS = ("scatterFunc", "applyWeight", "needsFunc", "priorityFunc")

ANSWERS = ("initFunc", "gatherFunc", "filterFunc", "needsFunc")
"""Functions that say True or False; a whole number does as well, 0 being False, as in C."""

MAY_BE_SILENT = ("initFunc", "gatherFunc")
"""Those that need not answer in a program with ``all_active``."""

SEVERAL = {"build_tuple": "tuple", "build_list": "list", "build_set": "set", "build_map": "dict"}
"""Operations of Numba's intermediate form that make more than a number."""


class OwnershipCheck:
    """Follows ``self`` and ``node`` through Numba's intermediate form of one function.

    ``used`` and ``written`` are the attributes of ``self`` that it uses, and those it writes; ``only_true``:
    it returns nothing but the constant True.
    """

    def __init__(self, cls: type[Program], name: str, function: types.FunctionType) -> None:
        self.cls, self.name, self.function = cls, name, function
        self.fields = cls.vertex_fields()
        self.arrays = {*self.fields, "out_degree"}
        self.known = {*self.fields, *cls.scalar_parameters(), *BUILT_IN}
        arguments = function.__code__.co_varnames
        self.self_argument = 0
        self.node_argument = len(ARGUMENTS[name]) - 1 if name != "applyWeight" else None
        self.argument_names = arguments
        self.definitions: dict[str, list[Any]] = {}
        self.used: set[str] = set()
        self.written: set[str] = set()
        self.only_true = True

    def fail(self, loc: Any, message: str) -> None:
        line = loc.line if loc is not None else self.function.__code__.co_firstlineno
        at = f"{self.function.__code__.co_filename}:{line}"
        raise ProgramError(f"{at}: {self.cls.__name__}.{self.name}: {message}")

    def run(self) -> None:
        from gpop.common.numba_private import errors as numba_errors
        from gpop.common.numba_private import ir, run_frontend

        self.ir = ir
        self.check_effects()
        self.check_recursion()
        try:
            blocks = run_frontend(self.function).blocks
        except (numba_errors.NumbaError, numba_errors.UnsupportedBytecodeError) as error:
            refused = error
        else:
            refused = None
        if refused is not None:  # here, so that Numba's own lines do not precede ours
            message = str(refused).strip().splitlines()[0].partition(". Raised from")[0]
            self.fail(getattr(refused, "loc", None), f"Numba cannot compile this: {message}")
        statements = [statement for block in blocks.values() for statement in block.body]
        for statement in statements:
            if isinstance(statement, ir.Assign):
                self.definitions.setdefault(statement.target.name, []).append(statement.value)
        for statement in statements:
            self.check_statement(statement)
        for helper in helpers_of(self.function):
            if any(instruction.opname == "RAISE_VARARGS" for instruction in dis.get_instructions(helper)):
                self.fail(None, f"calls {helper.__name__}, which may raise: not possible on many threads")

    def check_effects(self) -> None:
        """No function, and no helper that it calls, has an effect or a hidden state."""
        for function in (self.function, *helpers_of(self.function)):
            effect = first_effect(function)
            if effect is not None:
                through = "" if function is self.function else f"calls {function.__name__}: "
                at = f"{function.__code__.co_filename}:{effect.line}"
                raise ProgramError(f"{at}: {self.cls.__name__}.{self.name}: {through}{effect.message}")

    def check_recursion(self) -> None:
        """A helper is compiled as part of who calls it, which it cannot be of itself."""
        for helper in helpers_of(self.function):
            if helper in helpers_of(helper):
                self.fail(None, f"calls {helper.__name__}, which calls itself: expected a loop")

    def resolve(self, variable: Any) -> Any:
        """The single definition behind a variable, copies followed; None when it has several."""
        seen: set[str] = set()
        while isinstance(variable, self.ir.Var) and variable.name not in seen:
            seen.add(variable.name)
            values = self.definitions.get(variable.name, [])
            if len(values) != 1:
                return None
            variable = values[0]
        return variable

    def is_argument(self, variable: Any, index: int | None) -> bool:
        value = self.resolve(variable)
        return index is not None and isinstance(value, self.ir.Arg) and value.index == index

    def attribute(self, variable: Any) -> str | None:
        """Name of the attribute when the variable is ``self.<attribute>``."""
        value = self.resolve(variable)
        if isinstance(value, self.ir.Expr) and value.op == "getattr":
            if self.is_argument(value.value, self.self_argument):
                return value.attr
        return None

    def check_statement(self, statement: Any) -> None:
        ir = self.ir
        if isinstance(statement, ir.Assign) and len(self.definitions[statement.target.name]) > 1:
            attribute = self.attribute(statement.value)
            if attribute in self.arrays:  # a variable that is now one field, now another
                self.fail(statement.loc, f"self.{attribute} as a whole: use self.{attribute}[node]")
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Global):
            if statement.value.value is ir.UNDEFINED:
                self.fail(statement.loc, f"name {statement.value.name!r} is not defined")
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Expr):
            self.check_expression(statement.value, statement.loc)
        elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            self.check_store(statement)
        elif isinstance(statement, ir.SetAttr) and self.is_argument(statement.target, self.self_argument):
            self.fail(
                statement.loc,
                f"self.{statement.attr} = ... : store to a field at node: self.field[node] = ...",
            )
        elif isinstance(statement, ir.Return):
            self.check_return(statement)
        elif isinstance(statement, (ir.Raise, ir.StaticRaise, ir.DynamicRaise)):
            self.fail(
                statement.loc,
                'raise and assert are not possible on many threads: target="python" allows them',
            )

    def check_expression(self, expression: Any, loc: Any) -> None:
        if expression.op == "getattr" and self.is_argument(expression.value, self.self_argument):
            if expression.attr not in self.known:
                names = ", ".join(sorted(self.known))
                self.fail(loc, f"self.{expression.attr} is no field or parameter of the program ({names})")
            self.used.add(expression.attr)
            return
        if expression.op in ("getitem", "static_getitem"):
            attribute = self.attribute(expression.value)
            if attribute in self.arrays:
                index = expression.index if expression.op == "getitem" else expression.index_var
                self.check_index(attribute, index, loc)
                return
        for variable in expression.list_vars():
            attribute = self.attribute(variable)
            if attribute in self.arrays:
                self.fail(loc, f"self.{attribute} as a whole: use self.{attribute}[node]")
            if self.is_argument(variable, self.self_argument):
                self.fail(loc, "self may only be used as self.field[node], self.parameter or self.iteration")

    def check_store(self, statement: Any) -> None:
        attribute = self.attribute(statement.target)
        if attribute is None:
            self.fail(statement.loc, "only fields may be stored to: self.field[node] = ...")
        if attribute not in self.fields:
            self.fail(statement.loc, f"self.{attribute} is read-only here")
        if self.name in READ_ONLY_FUNCTIONS:
            self.fail(
                statement.loc,
                f"writes self.{attribute}: {self.name} must be pure (it may run more than once)",
            )
        self.written.add(attribute)
        index = statement.index if isinstance(statement, self.ir.SetItem) else statement.index_var
        self.check_index(attribute, index, statement.loc)

    def check_index(self, attribute: str, index: Any, loc: Any) -> None:
        if self.node_argument is None:
            self.fail(loc, f"reads self.{attribute}: applyWeight sees the value and the weight only")
        if not self.is_argument(index, self.node_argument):
            node = self.argument_names[self.node_argument]
            self.fail(loc, f"self.{attribute}[...]: only [{node}] is owned by this call (the ownership rule)")

    def check_return(self, statement: Any) -> None:
        value = self.resolve(statement.value)
        if isinstance(value, self.ir.Expr) and value.op == "cast":
            value = self.resolve(value.value)
        self.only_true &= isinstance(value, self.ir.Const) and value.value is True
        self.check_kind(statement, value)
        if self.cls.all_active and self.name in MAY_BE_SILENT:
            return
        if isinstance(value, self.ir.Const) and value.value is None:
            self.fail(statement.loc, "returns nothing on this path: expected a value")

    def check_kind(self, statement: Any, value: Any) -> None:
        """Refuse what is seen at once: a string, several values, a fraction in place of True or False."""
        ir, says = self.ir, self.name in ANSWERS
        expected = "expected True or False" if says else "expected one number"
        if isinstance(value, ir.Expr) and value.op in SEVERAL:
            self.fail(statement.loc, f"returns a {SEVERAL[value.op]}: {expected}")
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            known = (bool, np.bool_, int, np.integer) if says else (bool, int, float, np.generic)
            if value.value is not None and not isinstance(value.value, known):
                self.fail(statement.loc, f"returns {value.value!r}: {expected}")
