"""What programs of calls with the same arguments begin with, and how they are run.

An app makes a program, sets parameters and fields and runs it with the options that it was given. To do that
for each call takes longer than many a run, and the next call with the same arguments does the same. A
`Prototype` has what does not change: values of parameters, fields that nobody writes, recipes of the others
(`gpop.program.values`), and what the run is asked with. It has no graph, which may keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gpop
from gpop.common.arguments import as_count
from gpop.common.parallel import worker_count
from gpop.execution.again import Ran, asked_with, run_again
from gpop.execution.asked import as_vertices
from gpop.plan.plan import UNLIMITED

LOOKED_AT = ("callback", "checkpoint", "progress")
"""Options with which somebody looks at a run that goes on."""

OF_ITS_OWN = (*LOOKED_AT, "gather", "iterations")
"""Options that are none of what a run is asked with."""


class Prototype:
    """Programs that begin like ``program``, and runs of them of so many ``iterations`` at most.

    Recipes are shared: who wants another value for a vertex gives the field another recipe.

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

    def __init__(self, program: gpop.Program, iterations: int | None, options: dict[str, Any]) -> None:
        self.cls, self.parameters, self.fields = type(program), program._parameters, program._fields
        self.iterations = as_count("iterations", iterations)
        self.limit = UNLIMITED if iterations is None else min(self.iterations, UNLIMITED)
        self.options = {name: value for name, value in options.items() if name not in OF_ITS_OWN}
        self.asked: tuple = ()
        self.threads = -1

    def program(self, graph: gpop.Graph) -> gpop.Program:
        """A new one."""
        return self.cls._beginning(graph, self.fields.alike(), self.parameters.copy())

    def run(self, program: gpop.Program, frontier: Iterable[int] | None, options: dict[str, Any]) -> Ran:
        """Run it; ``options`` as the prototype was given them, or more."""
        threads = options.get("threads")
        if threads is None and options.get("target") != "gpu":
            threads = worker_count()
        if not any(map(options.get, LOOKED_AT)):
            graph = program.graph
            if threads != self.threads:
                self.asked = asked_with(
                    self.cls, graph.weights, frontier is None, self.iterations, **self.options
                )
                self.threads = threads
            sources = None if frontier is None else as_vertices(frontier, graph.n)
            done = run_again(self.asked, program, sources, self.limit)
            if done is not None:
                return done
        done = gpop.run(program, frontier, **{**options, "iterations": self.iterations})
        return Ran(done.iterations, done.converged, lambda: done)
