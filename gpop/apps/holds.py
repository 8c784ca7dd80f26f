"""What the fields of a result hold: which are about vertices, and where they have no value.

A result's class says it once for each field. ``reorder=`` goes by it (reorder.py), and so do tables
(tables.py).
"""

from __future__ import annotations

from dataclasses import field, fields
from enum import Enum
from typing import Any


class Holds(Enum):
    """What a field of a result holds."""

    NO_VERTICES = "no vertices and nothing about one: a count, a flag"
    VERTEX = "a vertex"
    VALUES = "an array with a value for each vertex"
    VERTICES = "an array with a vertex for each vertex, negative for none"
    COMPONENTS = "an array with, for each vertex, the smallest vertex of its component"
    LABELS = "an array with, for each vertex, the one that its group is called by"
    LIST = "an array of vertices, ascending"
    BESIDE_LIST = "an array with a value for each vertex of the `LIST`"


def holds(what: Holds, *, missing: Any = None, column: str | None = None, **options: Any) -> Any:
    """A field of a result that holds this.

    Parameters
    ----------
    what : Holds
    missing : optional
        What stands for no value, or the name of a field of bools that are False where there is none. There
        tables have no value; without this all are values.
    column : str, optional
        What tables call it, where not by its own name.
    **options : Any
        As for `dataclasses.field`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from gpop.apps.result import AppResult
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Landmarks(AppResult):
    ...     nearest: Any = holds(Holds.VERTICES)
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Undeclared(AppResult):
    ...     nearest: Any
    Traceback (most recent call last):
    gpop.common.errors.ProgramError: Undeclared.nearest: expected a field that says what it holds
    """
    return field(metadata={"holds": what, "missing": missing, "column": column}, **options)


def held(result: Any) -> dict[str, Holds]:
    """What each field of a result, or of a class of results, holds.

    Examples
    --------
    >>> from gpop.apps.triangles import TriangleResult
    >>> list(held(TriangleResult))
    ['count', 'symmetrized']
    """
    return {each.name: each.metadata["holds"] for each in fields(result) if "holds" in each.metadata}
