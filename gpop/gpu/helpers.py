"""What all emitted texts have in common: functions, their helpers, and how Numba's refusal is told.

A function is typed by Numba (`typed_ir`) and written by `FunctionText`; a call of another plain function
emits that one before its caller, once for each list of argument types.
"""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any

from gpop.common.errors import ProgramError, uncoloured
from gpop.common.numba_private import errors
from gpop.gpu.c_types import Unknown, c_type, plain
from gpop.gpu.function import FunctionText
from gpop.program.typed_ir import TypedFunction, infer

HINT = "__device__ __forceinline__"


class FunctionEmitter:
    """Emits plain functions and, as they are met, those that they call.

    ``arrays`` and ``scalars`` are what a function finds in ``self``, ``structs`` the C names of the named
    tuples that it may take.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.structs: dict[type, str] = {}
        self.texts: list[str] = []
        self.helpers: dict[tuple, tuple[str, Any]] = {}

    def is_helper(self, function: Any) -> bool:
        """Whether a callee is a function to emit; others are Python's, ``math``'s and NumPy's."""
        raise NotImplementedError

    def word(self, original: str) -> str:
        """C name of a helper."""
        return f"helper_{re.sub('[^0-9A-Za-z]+', '_', original)}_{len(self.helpers)}"

    def spelled(self, kind: Any) -> str:
        """C type of a parameter."""
        return self.structs.get(getattr(kind, "instance_class", None)) or c_type(kind)

    def scalar(self, kind: Any, where: str) -> str:
        """C type of an answer."""
        try:
            return c_type(kind)
        except Unknown:
            raise ProgramError(f"{where} returns {kind}: expected one scalar") from None

    def parameters(self, text: FunctionText, kinds: tuple) -> list[str]:
        """The parameters of a function after ``self``."""
        words = text.parameters[len(text.parameters) - len(kinds) :]
        return [f"{self.spelled(kind)} {word}" for kind, word in zip(kinds, words, strict=True)]

    def typed(self, function: FunctionType, argument_types: tuple, where: str) -> TypedFunction:
        """Numba's typed form; what Numba refuses is one line that names the user's."""
        try:
            return infer(function, argument_types)
        except errors.NumbaError as error:
            lines = [line.strip() for line in uncoloured(error).splitlines() if line.strip()]
            reasons = [line for line in lines if not line.startswith(("Failed in", "During", "File"))]
            code = function.__code__
            line = getattr(getattr(error, "loc", None), "line", None) or code.co_firstlineno
            reason = (reasons or lines)[0]
            fault = ProgramError(f"{code.co_filename}:{line}: {where} does not compile: {reason}", str(error))
        raise fault  # here: a traceback would show all of Numba's lines before this one

    def helper(self, function: FunctionType, argument_types: tuple) -> tuple[str, Any]:
        """Name and type of a helper for these argument types; emitted before its first caller."""
        if (function, argument_types) not in self.helpers:
            original = function.__code__.co_name
            typed = self.typed(function, argument_types, original)
            word = self.word(original)
            result = plain(typed.return_type)
            self.helpers[function, argument_types] = (word, result)
            answer = self.scalar(result, original)
            text = FunctionText(self, typed, original, answer="", has_self=False)
            body = text.body()
            arguments = ", ".join(self.parameters(text, argument_types))
            self.texts.append(f"{HINT} {answer} {word}({arguments})\n{{\n{body}\n}}\n")
        return self.helpers[function, argument_types]
