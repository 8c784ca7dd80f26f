"""The analytical model in CUDA C++: functions of `gpop.model` and the named tuples that they take.

The same emitter as for a program's functions, so that what a GPU decides by is what Python says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any, get_type_hints

from numba import types

from gpop.gpu.helpers import FunctionEmitter

KINDS = {int: types.int64, float: types.float64}
C_KINDS = {int: "long long", float: "double"}


class ModelEmitter(FunctionEmitter):
    """Emits functions of `gpop.model` under their own names; their hints are the types of what they take."""

    def is_helper(self, function: Any) -> bool:
        """Functions of the model call each other."""
        return isinstance(function, FunctionType) and function.__module__.startswith("gpop.model.")

    def word(self, original: str) -> str:
        """Every function is emitted for one list of argument types."""
        return original

    def function(self, function: Callable) -> None:
        """Emit a function and what it calls."""
        hints = get_type_hints(function)
        hints.pop("return", None)
        self.helper(function, tuple(self.kind(hint) for hint in hints.values()))

    def kind(self, hint: type) -> Any:
        """Numba's type of a number, or of a named tuple of numbers, which becomes a struct."""
        if hint in KINDS:
            return KINDS[hint]
        members = get_type_hints(hint)
        if hint not in self.structs:
            self.structs[hint] = hint.__name__
            lines = "".join(f"    {C_KINDS[member]} {name};\n" for name, member in members.items())
            self.texts.append(f"struct {hint.__name__} {{\n{lines}}};\n")
        return types.NamedTuple([KINDS[member] for member in members.values()], hint)


@lru_cache(maxsize=64)
def model_source(functions: tuple[Callable, ...]) -> str:
    """The namespace ``model`` with these functions."""
    emitter = ModelEmitter()
    for function in functions:
        emitter.function(function)
    return "namespace model {\n" + "\n".join(emitter.texts) + "}  // namespace model\n"
