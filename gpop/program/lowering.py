"""Program class -> checked functions and a content key, the form that every target compiles from.

The check reads Numba's intermediate form of each function, so it works wherever the class was typed
(script, module, notebook, REPL) and knows the user's file and line. It enforces the ownership rule:

- ``self`` is used only as ``self.field[node]``, ``self.parameter``, ``self.out_degree[node]`` and
  ``self.iteration``; the index is the argument ``node`` itself;
- ``scatterFunc``, ``applyWeight``, ``needsFunc`` and ``priorityFunc`` store nothing; nobody stores to
  ``out_degree`` or a parameter;
- every function that must answer returns a value, and none raises;
- none has an effect outside the program or a hidden state, such as ``print`` and ``np.random`` (effects.py).

The content key covers the bytecode of the functions, of the plain helper functions they call, the
values of the globals they read and ``cuda_source``. It names compiled kernels, so an edited program never
meets the kernels of its former self, and an unchanged one finds them again in a new process.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import types
from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import ProgramError
from gpop.program.effects import first_effect
from gpop.program.program import ARGUMENTS, BUILT_IN, FUNCTIONS, Program

READ_ONLY_FUNCTIONS = ("scatterFunc", "applyWeight", "needsFunc", "priorityFunc")

ANSWERS = ("initFunc", "gatherFunc", "filterFunc", "needsFunc")
"""Functions that say True or False; a whole number does as well, 0 being False, as in C."""

MAY_BE_SILENT = ("initFunc", "gatherFunc")
"""Those that need not answer in a program with ``all_active``."""

SEVERAL = {"build_tuple": "tuple", "build_list": "list", "build_set": "set", "build_map": "dict"}
"""Operations of Numba's intermediate form that make more than a number."""


class Lowered(NamedTuple):
    """A checked program.

    ``functions`` holds those the user wrote; ``names`` are the attributes of ``self`` that they use,
    in the order of the state tuple; ``key`` is the content key (hex). ``steady``: ``scatterFunc`` reads no
    field that another function writes, so within an iteration it may be called at any time. ``activates``:
    ``gatherFunc`` returns True whatever it hears. ``gathered``: the fields that it writes.
    """

    name: str
    functions: dict[str, types.FunctionType]
    fields: tuple[str, ...]
    parameters: tuple[str, ...]
    built_in: tuple[str, ...]
    key: str
    steady: bool
    activates: bool
    gathered: tuple[str, ...]


def lower(cls: type[Program]) -> Lowered:
    """Check a Program class and collect what a target needs to compile it.

    Raises
    ------
    ProgramError
        Naming the user's file and line, for a missing function or a breach of the ownership rule.

    Examples
    --------
    >>> class Sum(Program):
    ...     def scatterFunc(self, node):
    ...         return node
    ...     def gatherFunc(self, value, node):
    ...         return True
    >>> sorted(lower(Sum).functions)
    ['gatherFunc', 'scatterFunc']
    """
    functions = user_functions(cls)
    cached = cls.__dict__.get("_lowered")
    key = _content_key(cls, functions)
    if cached is not None and cached.key == key:
        return cached
    used: set[str] = set()
    written: set[str] = set()
    checks: dict[str, _OwnershipCheck] = {}
    for name, function in functions.items():
        checks[name] = check = _OwnershipCheck(cls, name, function)
        check.run()
        used |= check.used
        written |= check.written
    lowered = Lowered(
        cls.__name__,
        functions,
        tuple(name for name in cls.vertex_fields() if name in used),
        tuple(name for name in cls.scalar_parameters() if name in used),
        tuple(name for name in BUILT_IN if name in used),
        key,
        checks["scatterFunc"].used.isdisjoint(written),
        checks["gatherFunc"].only_true,
        tuple(sorted(checks["gatherFunc"].written)),
    )
    cls._lowered = lowered
    return lowered


def user_functions(cls: type[Program]) -> dict[str, types.FunctionType]:
    """The functions that the user wrote, by name.

    Raises
    ------
    ProgramError
        If scatterFunc or gatherFunc is missing, one is no plain method, or takes other arguments.
    """
    functions = {
        name: getattr(cls, name) for name in FUNCTIONS if getattr(cls, name) is not getattr(Program, name)
    }
    for name in ("scatterFunc", "gatherFunc"):
        if name not in functions:
            raise ProgramError(
                f"{cls.__name__} has no {name}: every program defines scatterFunc and gatherFunc"
            )
    for name, function in functions.items():
        where, expected = f"{place_of(cls, function)}: {cls.__name__}.{name}", ", ".join(ARGUMENTS[name])
        if not isinstance(function, types.FunctionType):
            jitted = isinstance(getattr(function, "py_func", None), types.FunctionType)
            found = "a compiled function (gpop compiles it itself)" if jitted else type(function).__name__
            raise ProgramError(f"{where}: found {found}, expected a plain method: def {name}({expected})")
        code = function.__code__
        arguments = code.co_varnames[: code.co_argcount]
        if len(arguments) != len(ARGUMENTS[name]) or code.co_kwonlyargcount or code.co_flags & 0x0C:
            raise ProgramError(f"{where}({', '.join(arguments)}): expected ({expected})")
    return functions


def place_of(cls: type[Program], function: Any) -> str:
    """``file:line`` of a function, of what it wraps, or else the file of its class."""
    while not isinstance(function, types.FunctionType):
        inner = function.func if isinstance(function, functools.partial) else None
        for name in ("py_func", "__func__", "__wrapped__"):
            inner = inner or getattr(function, name, None)
        if inner is None:
            return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__
        function = inner
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


# --- the content key ---------------------------------------------------------------------------


def _content_key(cls: type[Program], functions: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, function in functions.items():
        digest.update(name.encode())
        if isinstance(function, types.FunctionType):
            _hash_function(digest, function, set())
    declared = {**cls.vertex_fields(), **cls.scalar_parameters()}
    shape = [(name, member.dtype.str) for name, member in declared.items()]
    digest.update(repr((cls.__name__, shape, cls.all_active, repr(cls.inactive_message))).encode())
    digest.update(repr((cls.combine, cls.track_touched, cls.cuda_source)).encode())
    return digest.hexdigest()[:24]


def _hash_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    """Bytecode, constants, closure and globals; positions in the file do not count."""
    if id(function) in seen:
        return
    seen.add(id(function))
    _hash_code(digest, function.__code__)
    digest.update(repr(function.__defaults__).encode())
    for name, value in sorted(_references(function).items()):
        digest.update(name.encode())
        _hash_value(digest, value, seen)


def _hash_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _hash_code(digest, constant)
        else:
            digest.update(repr((type(constant).__name__, constant)).encode())


def _hash_value(digest: Any, value: Any, seen: set[int]) -> None:
    helper = getattr(value, "py_func", value)
    if isinstance(helper, types.FunctionType):
        _hash_function(digest, helper, seen)
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.dtype.str, value.shape)).encode() + value.tobytes())
    elif isinstance(value, (types.ModuleType, type)):
        digest.update(value.__name__.encode())
    else:
        digest.update(repr((type(value).__name__, value)).encode())


def names_in(code: types.CodeType) -> set[str]:
    """Names of globals and attributes in a code object and in those nested in it (lambdas)."""
    nested = [names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*nested)


def _references(function: types.FunctionType) -> dict[str, Any]:
    """Globals, constants of modules and closure variables that the function's code names."""
    names = names_in(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for module in [value for value in found.values() if isinstance(value, types.ModuleType)]:
        constants = {name: getattr(module, name) for name in names if hasattr(module, name)}
        found |= {
            f"{module.__name__}.{name}": value
            for name, value in constants.items()
            if isinstance(value, (bool, int, float, np.generic)) or hasattr(value, "py_func")
        }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        found[name] = cell.cell_contents
    return found


def helpers_of(function: types.FunctionType) -> list[types.FunctionType]:
    """Functions that ``function`` calls by name, directly or through another helper, compiled or not."""
    found: dict[int, types.FunctionType] = {}
    pending = [function]
    while pending:
        for value in _references(pending.pop()).values():
            value = getattr(value, "py_func", value)
            if isinstance(value, types.FunctionType) and id(value) not in found:
                found[id(value)] = value
                pending.append(value)
    return list(found.values())


# --- the ownership rule ------------------------------------------------------------------------


class _OwnershipCheck:
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
        try:
            blocks = run_frontend(self.function).blocks
        except numba_errors.NumbaError as error:
            refused = error
        else:
            refused = None
        if refused is not None:  # here, so that Numba's own lines do not precede ours
            message = str(refused).strip().splitlines()[0]
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
