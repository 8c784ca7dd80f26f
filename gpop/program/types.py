"""The types of a program: what it sends, and what gatherFunc gets; the same for every target.

Inferred by Numba's own rules from the functions, without compiling or running them (typed_ir.py). That takes
some hundredths of a second for each function, so what was found is kept under the program's content key.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from gpop.common.cached import source_key
from gpop.common.deferred import Later, compiler
from gpop.common.errors import ProgramError, uncoloured
from gpop.common.user_folder import recall, remember_also
from gpop.program.lowering import Lowered
from gpop.program.ownership import ANSWERS, MAY_BE_SILENT
from gpop.program.program import Program
from gpop.program.published import publish_user

typed_ir, types = Later("gpop.program.typed_ir"), Later("numba.types")

_found: dict[tuple[str, np.dtype | None], Types] = {}


class Types(NamedTuple):
    """NumPy types of what scatterFunc sends, of what gatherFunc gets, and of the weights in use or None."""

    message: np.dtype
    gathered: np.dtype
    weight: np.dtype | None


def types_of(cls: type[Program], lowered: Lowered, weight: np.dtype | None) -> Types:
    """The types of a program on edges with these weights (None: without).

    Raises
    ------
    ProgramError
        Naming the user's file and line, for a function that Numba cannot type, a message that is no number,
        or an answer that is neither True nor False.

    Examples
    --------
    >>> from gpop.program.lowering import lower
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node + 1
    ...     def gatherFunc(self, value, node):
    ...         return value > 0
    >>> types_of(Sum, lower(Sum), None)
    Types(message=dtype('int64'), gathered=dtype('int64'), weight=None)
    """
    known = (lowered.key, weight)
    if known not in _found:
        key = f"{lowered.key} {weight} {source_key(__file__)}"
        names = recall("types").get(key)
        if not (isinstance(names, list) and len(names) == 2):
            inferred = _infer(cls, lowered, weight)
            names = [inferred.message.str, inferred.gathered.str]
            remember_also("types", key, names)
        _found[known] = Types(np.dtype(names[0]), np.dtype(names[1]), weight)
    return _found[known]


def _infer(cls: type[Program], lowered: Lowered, weight: np.dtype | None) -> Types:
    errors = compiler().errors
    state, node = typed_ir.state_type(cls, lowered), types.uint32

    def answer(name: str, *arguments: Any) -> Any:
        function = publish_user(lowered.functions[name], name, lowered.key)
        try:
            typed = typed_ir.infer(function, (state, *arguments))
        except (errors.NumbaError, AttributeError) as error:  # Numba lets the latter pass, of a module
            refused = not_compiled(lowered, name, error)
        else:
            line = _loses_digits(typed)
            if line is None:
                return typed.return_type
            code = lowered.functions[name].__code__
            refused = ProgramError(
                f"{code.co_filename}:{line}: {lowered.name}.{name}: a number is now a uint64, now a signed "
                "one, which makes it a float64 that has not all digits: write np.uint64(0) for 0"
            )
        raise refused  # here: a traceback would show all of Numba's lines before this one

    def number(name: str, *arguments: Any) -> Any:
        kind = types.unliteral(answer(name, *arguments))
        if not isinstance(kind, (types.Number, types.Boolean)) or isinstance(kind, types.Complex):
            raise ProgramError(f"{place_in(lowered, name)} returns more than a number: expected one number")
        return kind

    message = gathered = number("scatterFunc", node)
    if weight is not None and "applyWeight" in lowered.functions:
        gathered = number("applyWeight", message, compiler().from_dtype(weight))
    for name in ANSWERS:
        if name not in lowered.functions:
            continue
        kind = answer(name, *((gathered, node) if name == "gatherFunc" else (node,)))
        silent = isinstance(kind, (types.NoneType, types.Optional))
        says = isinstance(kind, (types.Boolean, types.BooleanLiteral, types.Integer))
        if not says and not (silent and cls.all_active and name in MAY_BE_SILENT):
            where = place_in(lowered, name)
            raise ProgramError(f"{where} returns neither True nor False: expected one of them")
    as_dtype = compiler().as_dtype
    return Types(as_dtype(message), as_dtype(gathered), weight)


def place_in(lowered: Lowered, name: str) -> str:
    """``file:line: Program.function`` of one of the user's functions."""
    code = lowered.functions[name].__code__
    return f"{code.co_filename}:{code.co_firstlineno}: {lowered.name}.{name}"


def not_compiled(lowered: Lowered, name: str, error: Exception) -> ProgramError:
    """One line that says what Numba refuses and where; its own words are the error's ``detail``."""
    where = place_in(lowered, name) if name in lowered.functions else lowered.name
    lines = [line.strip() for line in uncoloured(error).splitlines() if line.strip()]
    reason, within = _reason(lines), ""
    # Of a helper Numba says that there is none of it, and further below why.
    while (helper := re.search(rf"<function (\w+)_\d+_{name}_\w+ at ", reason)) and _REJECTED in lines:
        lines = lines[lines.index(_REJECTED) + 1 :]
        reason, within = _reason(lines), f"in {helper[1]}: "
    if reason.endswith("for signature:"):  # which is below, after an arrow
        reason += next((line.removeprefix(">>>") for line in lines if line.startswith(">>>")), "")
    place = next((line for line in reversed(lines) if line.startswith("File")), "")  # the user's is outermost
    return ProgramError(
        f"{where} does not compile: {within}{reason} {place}".rstrip(" :"), detail=uncoloured(error)
    )


_REJECTED = "Rejected as the implementation raised a specific error:"


def _reason(lines: list[str]) -> str:
    """The first of Numba's lines that says what is wrong, not where it was found."""
    where = ("Failed in", "TypingError: Failed in", "During", "File")
    return next((line for line in lines if not line.startswith(where)), lines[0])


def _loses_digits(typed: Any) -> int | None:
    """Line where whole numbers become one of floating point, since they are of uint64 and of signed types."""
    from gpop.common.numba_private import ir

    whole, sources = types.Integer, {}
    for block in typed.blocks.values():
        for statement in block.body:
            if not isinstance(statement, ir.Assign):
                continue
            value, target = statement.value, statement.target.name
            kind, returned = typed.types[target], isinstance(value, ir.Expr) and value.op == "cast"
            if returned:
                target, value = "returned", value.value
            if isinstance(kind, types.Float):
                source = typed.types[value.name] if isinstance(value, ir.Var) else kind
                sources.setdefault(target, []).append((source, statement.loc.line))
    for found in sources.values():
        if all(isinstance(kind, (whole, types.Boolean)) for kind, _ in found):
            return found[0][1]
    return None
