"""A program of one's own by its name, ``FILE.py:CLASS``, and a run of it where nobody else sets it up.

What a program needs before it runs, its fields and its frontier, a class says in a method ``start(source)``:
it sets fields and parameters, and returns the frontier (None: all vertices). Without one, fields are as they
are declared and all vertices are active. Where nothing else ends a run, it ends after `ITERATIONS`.
"""

from __future__ import annotations

import importlib.util
import sys
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import ProgramError, UsageError
from gpop.execution.run import Run, run
from gpop.graph.graph import Graph
from gpop.plan.trace import Trace
from gpop.program.program import Program

ITERATIONS = 10
"""Of programs whose vertices are all active, unless a number is given."""


class Ran(NamedTuple):
    """A program after its run."""

    program: Program
    run: Run

    @property
    def trace(self) -> Trace:
        """Of the run."""
        return self.run.trace

    @property
    def answer(self) -> np.ndarray:
        """The field that is declared first: what runs are compared by."""
        return getattr(self.program, next(iter(type(self.program).vertex_fields())))


def full_name(text: str) -> str:
    """``FILE.py:CLASS`` with the whole path of the file, so that it means the same to another process."""
    path, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier() or not path.endswith(".py"):
        raise UsageError(f"program {text!r}: expected FILE.py:CLASS")
    if not Path(path).is_file():
        raise UsageError(f"program {text!r}: there is no file {path}")
    return f"{Path(path).resolve()}:{name}"


def program_named(text: str) -> type[Program]:
    """The class that ``FILE.py:CLASS`` names; the file is run once in a process, as a module.

    Raises
    ------
    UsageError
        If there is no such file or class, or the file cannot be run.
    """
    path, _, name = full_name(text).rpartition(":")
    module = sys.modules.get(Path(path).stem)
    if getattr(module, "__file__", None) != path:
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[spec.name]
            if isinstance(error, ProgramError):
                raise
            raise UsageError(f"program {text!r}: {type(error).__name__}: {error}") from None
    found = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, Program)):
        known = [each for each, kind in vars(module).items() if _is_program(kind)]
        raise UsageError(
            f"program {text!r}: expected one of {', '.join(known) or 'no class of gpop.Program'}"
        )
    return found


def _is_program(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Program) and kind is not Program


def uses_weights(cls: type[Program]) -> bool:
    """Whether it looks at the weights of edges.

    Examples
    --------
    >>> uses_weights(Program)
    False
    """
    return cls.applyWeight is not Program.applyWeight


def run_program(cls: type[Program], graph: Graph, source: int, **options: Any) -> Ran:
    """Run a program from its start; ``options`` are those of `gpop.run`.

    Examples
    --------
    >>> class Hops(Program):
    ...     from gpop.program.fields import HARMLESS as inactive_message, VertexField
    ...     hops = VertexField(np.uint32, 99)
    ...     def start(self, source):
    ...         self.hops[source] = 0
    ...         return [source]
    ...     def scatterFunc(self, node):
    ...         return self.hops[node]
    ...     def gatherFunc(self, value, node):
    ...         if value + 1 < self.hops[node]:
    ...             self.hops[node] = value + 1
    ...             return True
    ...         return False
    >>> run_program(Hops, Graph.from_edges([0, 1], [1, 2]), 0, target="python").answer.tolist()
    [0, 1, 2]
    """
    program = cls(graph)
    begins = isfunction(getattr(cls, "start", None))  # not a field of that name
    frontier = program.start(source) if begins else None
    if cls.all_active and options.get("iterations") is None:
        options["iterations"] = ITERATIONS
    return Ran(program, run(program, frontier, **options))
