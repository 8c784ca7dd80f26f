"""The emitted text of one program: its state, its functions and the helpers they call.

`Program.cuda_source` takes the place of the functions that it defines. Those are typed all the same: what a
message is and which fields are written is read off the Python functions.
"""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any

import numpy as np
from numba import from_dtype, types

from gpop.common.errors import ProgramError
from gpop.gpu.c_types import Names, c_type, dtype_of, plain
from gpop.gpu.emitted import Emitted
from gpop.gpu.function import FunctionText, stored_fields
from gpop.gpu.helpers import HINT, FunctionEmitter
from gpop.program import published as registry
from gpop.program.extreme import extreme_of
from gpop.program.functions import FUNCTIONS
from gpop.program.lowering import Lowered
from gpop.program.program import Program
from gpop.program.typed_ir import state_type

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DEFINITION = re.compile(rf"\b({'|'.join(FUNCTIONS)})\s*\([^{{}};]*\)\s*\{{")


def defined_in(cls: type[Program], functions: dict[str, Any]) -> frozenset[str]:
    """Names of the functions that the program's ``cuda_source`` defines.

    Raises
    ------
    ProgramError
        If there are none, if one has no counterpart in Python, or if a subclass changed the one in Python.
    """
    if cls.cuda_source is None:
        return frozenset()
    names = frozenset(DEFINITION.findall(COMMENT.sub(" ", cls.cuda_source)))
    if not names:
        raise ProgramError(f"{cls.__name__}.cuda_source defines none of {', '.join(FUNCTIONS)}")
    line = cls.__mro__
    owner = next(base for base in line if "cuda_source" in vars(base))
    for name in sorted(names):
        if name not in functions:
            raise ProgramError(f"{cls.__name__}.cuda_source defines {name}: expected {name} in Python too")
        changed = next(base for base in line if name in vars(base))
        if line.index(changed) < line.index(owner):
            raise ProgramError(
                f"{changed.__name__}.{name} replaces the one that {owner.__name__}.cuda_source defines: "
                f"expected {changed.__name__}.cuda_source (None: all functions from Python)"
            )
    return names


class Emitter(FunctionEmitter):
    """Emits the functions of one program and, as they are met, the helpers they call.

    ``place`` is where the fields of the engine's vertex ``v`` are.
    """

    place = "v"

    def __init__(self, cls: type[Program], lowered: Lowered) -> None:
        super().__init__()
        self.cls, self.lowered = cls, lowered
        self.given = defined_in(cls, lowered.functions)
        self.state = state_type(cls, lowered)
        names = Names()
        out_degree = ("out_degree",) if "out_degree" in lowered.built_in else ()
        iteration = ("iteration",) if "iteration" in lowered.built_in else ()
        self.arrays = {name: names(name) for name in (*lowered.fields, *out_degree)}
        self.scalars = {name: names(name) for name in (*lowered.parameters, *iteration)}
        self.pointers = {name: names(f"{word}_") for name, word in self.arrays.items()}
        self.cells = {name: names(f"{word}_cell") for name, word in self.arrays.items()}
        self.written: tuple[str, ...] = ()

    def run(self, weight_dtype: Any) -> Emitted:
        """The program for edges of one weight type, or without weights."""
        node, functions = types.uint32, self.lowered.functions
        message = gathered = self.function("scatterFunc", (node,))
        if weight_dtype is not None and "applyWeight" in functions:
            gathered = self.function("applyWeight", (message, from_dtype(np.dtype(weight_dtype))))
        self.function("gatherFunc", (gathered, node))
        for name in functions:
            if name not in ("scatterFunc", "applyWeight", "gatherFunc"):
                self.function(name, (node,))
        unused = "applyWeight" if weight_dtype is None else None
        defined = tuple(name for name in FUNCTIONS if name in functions and name != unused)
        if self.given:
            self.texts.append(f'#line 1 "{self.cls.__name__}.cuda_source"\n{self.cls.cuda_source}')
            self.texts.append('#line 1 "gpop"')
        parts = [self.struct(), self.copy(), self.owned(), self.settled(), *self.texts]
        written = tuple(self.cls.vertex_fields()[name].dtype for name in self.written)
        return Emitted(
            "\n".join(part for part in parts if part),
            dtype_of(message), dtype_of(gathered), self.written, defined, self.state_dtype(),
            written, self.cls.settles is not None, self.extreme(dtype_of(gathered), written),
        )  # fmt: skip

    def extreme(self, gathered: np.dtype, written: tuple[np.dtype, ...]) -> str | None:
        """See `Emitted`; such instructions are for whole words."""
        whole = gathered.kind in "iu" and gathered.itemsize >= 4
        if not whole or written != (gathered,) or "gatherFunc" in self.given:
            return None
        return extreme_of(self.lowered.functions["gatherFunc"])

    # --- functions -----------------------------------------------------------------------------

    def function(self, name: str, argument_types: tuple) -> Any:
        """Emit one of the program's functions; returns the type of its answer."""
        published = registry.publish_user(self.lowered.functions[name], name, self.lowered.key)
        where = f"{self.cls.__name__}.{name}"
        typed = self.typed(published, (self.state, *argument_types), where)
        result = plain(typed.return_type)
        numbers = ("scatterFunc", "applyWeight", "priorityFunc")
        answer = self.scalar(result, where) if name in numbers else "bool"
        if name == "gatherFunc":
            stored = stored_fields(typed)
            self.written = tuple(field for field in self.lowered.fields if field in stored)
        if name not in self.given:
            text = FunctionText(self, typed, where, answer, has_self=True)
            body = text.body()
            arguments = ", ".join(["Self& self", *self.parameters(text, argument_types)])
            self.texts.append(f"template <class Self>\n{HINT} {answer} {name}({arguments})\n{{\n{body}\n}}\n")
        return result

    def is_helper(self, function: Any) -> bool:
        """Whether this is a plain function of the user (`gpop.program.published` holds copies of those)."""
        return isinstance(function, FunctionType) and function.__module__ == registry.__name__

    # --- the state -----------------------------------------------------------------------------

    def member_types(self) -> dict[str, str]:
        """C types of fields' elements, parameters and built-in names."""
        declared = {**self.cls.vertex_fields(), **self.cls.scalar_parameters()}
        kinds = {name: c_type(from_dtype(member.dtype)) for name, member in declared.items()}
        return kinds | {"out_degree": "unsigned", "iteration": "long long"}

    def struct(self) -> str:
        """``State``: a pointer per array, a value per scalar, and a method per array for one element."""
        kinds, lines = self.member_types(), []
        for name in self.lowered.fields + self.lowered.parameters + self.lowered.built_in:
            const = "const " if name == "out_degree" else ""
            if name in self.pointers:
                lines.append(f"{const}{kinds[name]}* {self.pointers[name]};")
            else:
                lines.append(f"{kinds[name]} {self.scalars[name]};")
        for name, word in self.arrays.items():
            const = "const " if name == "out_degree" else ""
            element = f"{self.pointers[name]}[node]"
            lines.append(f"{HINT} {const}{kinds[name]}& {word}(unsigned node) const {{ return {element}; }}")
        if not lines:
            lines = ["long long nothing;"]
        return "struct State {\n" + "\n".join(f"    {line}" for line in lines) + "\n};\n"

    def copy(self) -> str:
        """A state whose one written field is a cell of its own."""
        if len(self.written) != 1:
            return ""
        kind, word = self.member_types()[self.written[0]], self.arrays[self.written[0]]
        return (
            "struct Copy : State {\n"
            f"    {kind} cell;\n"
            f"    {HINT} Copy(const State& state, {kind} value) : State(state), cell(value) {{}}\n"
            f"    {HINT} {kind}& {word}(unsigned) {{ return cell; }}\n"
            "};\n"
            f"{HINT} {kind}& written_cell(const State& state, unsigned v)"
            f" {{ return state.{word}({self.place}); }}\n"
        )

    def owned(self) -> str:
        """A state that keeps the written fields of one vertex in cells of its own until `put_back`."""
        kinds = self.member_types()
        words = [(kinds[name], self.arrays[name], self.cells[name]) for name in self.written]
        loads = "".join(f", {cell}(state.{word}({self.place}))" for _, word, cell in words)
        stores = "".join(f" state.{word}({self.place}) = own.{cell};" for _, word, cell in words)
        lines = [f"{kind} {cell};" for kind, _, cell in words]
        lines.append(f"{HINT} Owned(const State& state, unsigned v) : State(state){loads} {{}}")
        lines += [f"{HINT} {kind}& {word}(unsigned) {{ return {cell}; }}" for kind, word, cell in words]
        members = "".join(f"    {line}\n" for line in lines)
        put_back = f"{HINT} void put_back(const Owned& own, const State& state, unsigned v) {{{stores} }}\n"
        return f"struct Owned : State {{\n{members}}};\n{put_back}"

    def settled(self) -> str:
        """By how much a vertex has changed, and what all changes are to be less than, if it says so."""
        if self.cls.settles is None:
            return ""
        field, tolerance = self.cls.settles
        return (
            f"#define CHANGE(state, v) (state).{self.arrays[field]}({self.place})\n"
            f"#define TOLERANCE(state) (double)(state).{self.scalars[tolerance]}\n"
        )

    def state_dtype(self) -> np.dtype:
        """``State`` as a NumPy type."""
        pairs = []
        for name in self.lowered.fields + self.lowered.parameters + self.lowered.built_in:
            if name in self.pointers:
                pairs.append((name, np.dtype(np.uint64)))
            elif name == "iteration":
                pairs.append((name, np.dtype(np.int64)))
            else:
                pairs.append((name, self.cls.scalar_parameters()[name].dtype))
        return np.dtype(pairs or [("nothing", np.dtype(np.int64))], align=True)
