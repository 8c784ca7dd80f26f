"""What every one-call function returns besides its own fields: the run and its trace.

Each field of a result says what it holds (`holds`), so that ``reorder=`` can bring it back into the ids of
the given graph (reorder.py). A class with a field that does not say so is refused when it is defined: a
vertex in the ids of another order looks like any other number.
"""

from __future__ import annotations

import inspect
from dataclasses import Field, dataclass, field
from enum import Enum
from typing import Any

import gpop
from gpop.common.errors import ProgramError


class Holds(Enum):
    """What a field of a result holds."""

    NO_VERTICES = "no vertices and nothing about one: a count, a flag"
    VALUES = "an array with a value for each vertex"
    VERTICES = "an array with a vertex for each vertex, negative for none"
    COMPONENTS = "an array with, for each vertex, the smallest vertex of its component"
    LIST = "an array of vertices, ascending"
    BESIDE_LIST = "an array with a value for each vertex of the `LIST`"


def holds(what: Holds, **options: Any) -> Any:
    """A field of a result that holds this; ``options`` as for `dataclasses.field`.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Landmarks(AppResult):
    ...     nearest: Any = holds(Holds.VERTICES)
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Undeclared(AppResult):
    ...     nearest: Any
    Traceback (most recent call last):
    gpop.common.errors.ProgramError: Undeclared.nearest: expected a field that says what it holds
    """
    return field(metadata={"holds": what}, **options)


@dataclass(frozen=True, kw_only=True)
class AppResult:
    """Base of the results: ``run`` (`gpop.Run`) and ``trace`` (`gpop.Trace`)."""

    run: gpop.Run = field(repr=False)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in inspect.get_annotations(cls):
            declared = cls.__dict__.get(name)
            if not (isinstance(declared, Field) and isinstance(declared.metadata.get("holds"), Holds)):
                raise ProgramError(f"{cls.__name__}.{name}: expected a field that says what it holds")

    @property
    def trace(self) -> gpop.Trace:
        """One record per iteration."""
        return self.run.trace
