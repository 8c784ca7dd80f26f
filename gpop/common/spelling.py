"""Names that nobody knows: refused in one line with the name that was probably meant.

An option that is not taken, and a function or a declaration of a program that is close to one of the
interface but would never be looked at.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar

from gpop.common.errors import ProgramError, UsageError
from gpop.common.flags import ONLY_BOOL, check_flags, flags_of

P = ParamSpec("P")
R = TypeVar("R")

CLOSE = 0.84
"""From which similarity (`difflib`) on a method is a misspelt function: gatherFn is, gather and gather_all
are not. Methods of a program cannot be called from its functions, but by those who use it."""


class UnknownOption(UsageError, TypeError):
    """A keyword argument that a function does not take."""


def refuse_word(word: str, known: Iterable[str], what: str, kind: str) -> NoReturn:
    """Refuse a word that nobody knows; names the nearest one and all that there are."""
    known = list(known)
    raise UsageError(
        f"{what} has no {kind} {word!r}{_meant(word, known)}: expected one of {', '.join(known)}"
    )


def _meant(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def refusing(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses keyword arguments that it does not have in one line with the nearest name,
    and flags that are neither True nor False.

    Type checkers see the function's own parameters, so that they find a wrong one before.

    Examples
    --------
    >>> @refusing
    ... def walk(graph, *, steps=3): ...
    >>> walk(None, step=2)
    Traceback (most recent call last):
    gpop.common.spelling.UnknownOption: walk takes no option 'step' (did you mean steps?): expected some of
    steps
    """
    named = list(inspect.signature(function).parameters)
    offered, known = list(dict.fromkeys([*named[1:], *options_of(function)])), frozenset(named)
    flags = flags_of(function)

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        if not known.issuperset(options):
            unknown = next(name for name in options if name not in known)
            refuse_option(unknown, offered, function.__name__)
        if not ONLY_BOOL.issuperset(map(type, map(options.get, flags.keys() & options.keys()))):
            check_flags(flags, options)
        return function(*arguments, **options)

    return call


def refuse_option(name: str, known: Iterable[str], what: str) -> NoReturn:
    """Refuse a keyword argument of ``what``; names the nearest one and all that there are."""
    known = list(known)
    raise UnknownOption(
        f"{what} takes no option {name!r}{_meant(name, known)}: expected some of {', '.join(known)}"
    )


def options_of(function: Callable[..., Any]) -> list[str]:
    """Names of the keyword-only parameters of a function, ``**`` left out.

    Examples
    --------
    >>> def walk(graph, *, steps=3, **others): ...
    >>> options_of(walk)
    ['steps']
    """
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def check_spelling(
    cls: type, base: type, functions: dict[str, tuple[str, ...]], declarations: Iterable[str]
) -> None:
    """Refuse methods and declarations of a program that are one of the interface's, misspelt.

    Parameters
    ----------
    cls, base : type
        The program, and the class that ends the search.
    functions : dict
        Names of the interface's functions and their arguments.
    declarations : iterable of str
        Names of what else a program may declare.
    """
    for owner in cls.__mro__[: cls.__mro__.index(base)]:
        for name, value in vars(owner).items():
            if name in functions or name in declarations or name.startswith("_"):
                continue
            meant = None
            if isinstance(value, types.FunctionType):
                meant = _misspelt_function(name, value.__code__.co_argcount, functions)
            elif value is None or isinstance(value, (bool, int, float, str)):
                meant = _nearest(name, declarations)
            if meant is not None:
                code = getattr(value, "__code__", None)
                place = f"{code.co_filename}:{code.co_firstlineno}: " if code else ""
                raise ProgramError(
                    f"{place}{cls.__name__}.{name}: nobody would look at it; did you mean {meant}?"
                )


def check_set(program: Any, values: Iterable[str], of_class: Iterable[str]) -> None:
    """Refuse what was set on a program and nobody would look at: what its class declares, or a misspelt name.

    Misspelt is here only what has the same letters: a program may keep ``ranks`` beside its field ``rank``.

    Parameters
    ----------
    program : Program
        With attributes beyond its own.
    values, of_class : iterable of str
        Names that a program may be given values of, and those that only a class can define.
    """
    name, of_class = type(program).__name__, list(of_class)
    for given in vars(program):
        if given in of_class:
            raise ProgramError(f"{name}.{given} was set on a program: expected it in the class")
        for meant in () if given.startswith("_") else values:
            if sorted(_squashed(given)) == sorted(_squashed(meant)):
                raise ProgramError(f"{name}.{given} was set: nobody would look at it; did you mean {meant}?")


def _misspelt_function(name: str, arguments: int, functions: dict[str, tuple[str, ...]]) -> str | None:
    """The function that was meant; where the name is only similar, it takes as many arguments."""
    meant = _nearest(name, functions)
    if meant is None or _squashed(name) == _squashed(meant) or arguments == len(functions[meant]):
        return meant
    return None


def _nearest(name: str, known: Iterable[str]) -> str | None:
    squashed = {_squashed(each): each for each in known}
    near = difflib.get_close_matches(_squashed(name), squashed, n=1, cutoff=CLOSE)
    return squashed[near[0]] if near else None


def _squashed(name: str) -> str:
    """In small letters, without underscores, and a function is a func."""
    return name.lower().replace("_", "").replace("function", "func")
