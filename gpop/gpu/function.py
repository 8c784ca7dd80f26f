"""One typed function as the text of a C++ function.

Blocks become labels and branches ``goto``; variables are declared at the top. A temporary of Numba's that is
used once and computed from values that never change is written where it is used, so the text stays
readable; loads from fields keep their place. What nothing uses is left out.
"""

from __future__ import annotations

import linecache
from collections import Counter
from typing import Any

from numba import types

from gpop.common.errors import ProgramError
from gpop.common.numba_private import ir
from gpop.gpu.c_types import Unknown, c_type, cast, truth
from gpop.gpu.expressions import Expressions, is_number, parts_of
from gpop.program.typed_ir import TypedFunction

INDENT = "    "


def reads(statement: Any) -> list[str]:
    """Names of the variables that a statement, or the value of an assignment, uses."""
    if isinstance(statement, ir.Del):
        return []
    value = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(value, ir.Var):
        return [value.name]
    return [variable.name for variable in value.list_vars()] if hasattr(value, "list_vars") else []


def stored_fields(typed: TypedFunction) -> set[str]:
    """Attributes of ``self`` that a function stores to."""
    statements = [statement for block in typed.blocks.values() for statement in block.body]
    values = {s.target.name: s.value for s in statements if isinstance(s, ir.Assign)}
    stored = set()
    for statement in statements:
        if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            value = statement.target
            while isinstance(value, ir.Var):
                value = values[value.name]
            stored.add(value.attr)
    return stored


class FunctionText(Expressions):
    """Walks the blocks of one function; ``body`` is the text between the braces."""

    def __init__(self, program: Any, typed: TypedFunction, where: str, answer: str, has_self: bool) -> None:
        super().__init__(program, typed, has_self)
        self.where, self.answer = where, answer
        self.loc: Any = None
        self.targets: set[int] = set()  # blocks that some ``goto`` names
        self.statements = self._live()
        everything = [s for statements in self.statements.values() for s in statements]
        self.stores = Counter(s.target.name for s in everything if isinstance(s, ir.Assign))
        self.uses = Counter(name for s in everything for name in reads(s))
        self.home = {
            name: label for label, body in self.statements.items() for s in body for name in reads(s)
        }

    def _live(self) -> dict[int, list[Any]]:
        """The statements of each block without assignments that nothing uses (no right-hand side acts)."""
        live = {label: block.body for label, block in self.typed.blocks.items()}
        live = {label: [s for s in body if not isinstance(s, ir.Del)] for label, body in live.items()}
        while True:
            used = {name for body in live.values() for s in body for name in reads(s)}
            kept = {
                label: [s for s in body if not isinstance(s, ir.Assign) or s.target.name in used]
                for label, body in live.items()
            }
            if kept == live:
                return live
            live = kept

    # --- the body ------------------------------------------------------------------------------

    def body(self) -> str:
        """Declarations and statements, with the user's lines as comments."""
        order, line = sorted(self.statements), None
        for label, following in zip(order, [*order[1:], None], strict=True):
            self.block, self.following = label, following
            self.lines.append(f"block_{label}:;")
            for statement in self.statements[label]:
                self.loc = statement.loc
                before = len(self.lines)
                try:
                    self._statement(statement)
                except Unknown as unknown:
                    raise self._error(f"the GPU target does not know {unknown}") from None
                if len(self.lines) > before and statement.loc.line != line:
                    line = statement.loc.line
                    self._comment(before, line)
        idle = {f"block_{label}:;" for label in self.statements.keys() - self.targets}
        top = [f"{kind} {name};" for name, kind in self.declared.items()]
        return "\n".join(INDENT + text for text in top + [text for text in self.lines if text not in idle])

    def _comment(self, at: int, line: int) -> None:
        text = linecache.getline(self.typed.function.__code__.co_filename, line).strip().rstrip("\\")
        if text:
            self.lines.insert(at, "// " + text.encode("ascii", "replace").decode().replace("??", "? ?"))

    def _goto(self, label: int) -> str:
        self.targets.add(label)
        return f"goto block_{label};"

    def _error(self, message: str) -> ProgramError:
        at = f"{self.typed.function.__code__.co_filename}:{self.loc.line}"
        return ProgramError(f"{at}: {self.where}: {message}")

    # --- statements ----------------------------------------------------------------------------

    def _statement(self, statement: Any) -> None:
        if isinstance(statement, ir.Assign):
            self._assign(statement.target.name, statement.value)
        elif isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
            self._store(statement)
        elif isinstance(statement, ir.Return):
            self._return(statement.value)
        elif isinstance(statement, ir.Jump):
            if statement.target != self.following:
                self.lines.append(self._goto(statement.target))
        elif isinstance(statement, ir.Branch):
            self._branch(statement)
        else:
            raise Unknown(f"{type(statement).__name__}: {statement}")

    def _branch(self, branch: Any) -> None:
        condition = truth(self.text(branch.cond), self.kind(branch.cond))
        if branch.truebr == self.following:
            self.lines.append(f"if (!({condition})) {self._goto(branch.falsebr)}")
            return
        self.lines.append(f"if ({condition}) {self._goto(branch.truebr)}")
        if branch.falsebr != self.following:
            self.lines.append(self._goto(branch.falsebr))

    def _return(self, variable: Any) -> None:
        kind = self.kind(variable)
        if self.answer != "bool":
            text = cast(self.text(variable), kind, self.typed.return_type)
        elif isinstance(kind, types.NoneType):
            text = "false"
        else:
            text = (
                self.text(variable) if isinstance(kind, types.Optional) else truth(self.text(variable), kind)
            )
        self.lines.append(f"return {text};")

    def _store(self, statement: Any) -> None:
        field = self.fields.get(statement.target.name)
        if field is None:
            raise Unknown("a store to something else than a field")
        kind = self.kind(statement.target).dtype
        self.lines.append(f"{self.cell(field)} = {self.converted(statement.value, kind)};")

    def _assign(self, target: str, value: Any) -> None:
        kind = self.typed.types.get(target)
        parts = parts_of(kind)
        if parts is not None:
            return self.assign_parts(target, value, parts)
        if isinstance(value, (ir.Global, ir.FreeVar)) and not is_number(value.value):
            self.callees[target] = value.value
            return None
        if isinstance(kind, (types.Function, types.NumberClass, types.Module, types.BaseNamedTuple)):
            return self._nothing_to_compute(target, value, kind)
        if isinstance(kind, types.Array):
            return self._array(target, value)
        if isinstance(kind, types.NoneType):
            return None
        text = self.value(value, kind)
        if self._written_in_place(target, value):
            self.texts[target] = text
            return None
        name = self.names(target)
        self.declared.setdefault(name, "bool" if isinstance(kind, types.Optional) else c_type(kind))
        self.lines.append(f"{name} = {text};")
        return None

    def _written_in_place(self, target: str, value: Any) -> bool:
        if self.stores[target] != 1:
            return False
        operation = value.op if isinstance(value, ir.Expr) else None
        if operation == "getattr" or isinstance(value, (ir.Arg, ir.Const, ir.Global, ir.FreeVar)):
            return True
        stays = operation not in ("getitem", "static_getitem", "pair_first", "pair_second")
        fixed = all(self.stores[name] <= 1 for name in reads(value))
        nearby = self.uses[target] == 1 and self.home[target] == self.block
        return target.startswith("$") and stays and fixed and nearby

    def _nothing_to_compute(self, target: str, value: Any, kind: Any) -> None:
        """Modules, functions and ``self`` exist only while the text is written."""
        if isinstance(value, ir.Var):
            if value.name in self.callees:
                self.callees[target] = self.callees[value.name]
        elif isinstance(value, ir.Expr) and value.op == "getattr" and value.value.name in self.callees:
            self.callees[target] = getattr(self.callees[value.value.name], value.attr)
        elif not isinstance(value, (ir.Arg, ir.Const)):
            raise Unknown(f"{kind}")

    def _array(self, target: str, value: Any) -> None:
        if isinstance(value, ir.Var) and value.name in self.fields:
            self.fields[target] = self.fields[value.name]
        elif isinstance(value, ir.Expr) and value.op == "getattr" and value.attr in self.program.arrays:
            self.fields[target] = value.attr
        else:
            raise Unknown("an array that is no field")
