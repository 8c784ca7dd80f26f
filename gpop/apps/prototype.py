"""What programs of calls with the same arguments begin with, and how they are run.

An app makes a program, sets parameters and fields and runs it with the options that it was given. To do that
for each call takes longer than many a run, and the next call with the same arguments does the same. A
`Prototype` has what does not change: values of parameters, fields that nobody writes, recipes of the others
(`gpop.program.values`), and what the run is asked with. It has no graph, which may keep it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import gpop
from gpop.apps.resolved import threads_of_machine
from gpop.common.arguments import as_count
from gpop.execution.again import Ran, asked_with, run_again
from gpop.plan.plan import UNLIMITED
from gpop.program.values import NOTHING

LOOKED_AT = ("callback", "checkpoint", "progress")
"""Options with which somebody looks at a run that goes on."""

OF_ITS_OWN = (*LOOKED_AT, "gather", "iterations")
"""Options that are none of what a run is asked with."""


class Prototype:
    """Programs that begin like ``program``, and runs of them of so many ``iterations`` at most.

    Recipes are shared: who wants another value for some vertices says so when a program is made. ``scratch``:
    fields that are no part of what is made of a run.

    Examples
    --------
    >>> import numpy as np
    >>> class Count(gpop.Program):
    ...     heard = gpop.VertexField(np.uint32)
    ...     all_active = True
    ...     def scatterFunc(self, node):
    ...         return np.uint32(1)
    ...     def gatherFunc(self, value, node):
    ...         self.heard[node] += value
    ...         return True
    >>> graph = gpop.Graph.from_edges([0, 1], [1, 2])
    >>> of = Prototype(Count(graph), 3, {})
    >>> programs = [of.program(graph) for _ in range(2)]
    >>> [of.run(program, None, {}).iterations for program in programs], programs[1].heard.tolist()
    ([3, 3], [0, 3, 3])
    """

    def __init__(
        self, program: gpop.Program, iterations: int | None, options: dict[str, Any],
        scratch: tuple[str, ...] = (), **summary: Any,
    ) -> None:  # fmt: skip
        program._fields.scratch = frozenset(scratch)
        self.cls, self.parameters, self.fields = type(program), program._parameters, program._fields
        self.iterations = as_count("iterations", iterations)
        self.limit = UNLIMITED if iterations is None else min(self.iterations, UNLIMITED)
        self.options = {name: value for name, value in options.items() if name not in OF_ITS_OWN}
        self.asked: tuple = ()
        self.threads = -1
        self.on_gpu, self.summary = options.get("target") == "gpu", summary

    def program(self, graph: gpop.Graph, first: Mapping[str, dict[int, Any]] = NOTHING) -> gpop.Program:
        """A new one; ``first``: values that some vertices have, of fields that are as they are declared."""
        return self.cls._beginning(graph, self.fields.alike(first), self.parameters.copy())

    def run(self, program: gpop.Program, sources: np.ndarray | None, options: dict[str, Any]) -> Ran:
        """Run it from these vertices (uint32), or from all; ``options`` are the prototype's, or more."""
        done = self._again(program, sources, options)
        if done is None:
            run = gpop.run(program, sources, **{**options, "iterations": self.iterations})
            done = Ran(run.iterations, run.converged, lambda: run)
        done.summary = self.summary
        return done

    def _again(
        self, program: gpop.Program, sources: np.ndarray | None, options: dict[str, Any]
    ) -> Ran | None:
        """By the engine that rests for such runs, if one does."""
        if any(map(options.get, LOOKED_AT)):
            return None
        threads = 0 if self.on_gpu else threads_of_machine(options)
        if threads != self.threads:
            self.asked = asked_with(
                self.cls, program.graph.weights, sources is None, self.iterations, **self.options
            )
            self.threads = threads
        return run_again(self.asked, program, sources, self.limit)
