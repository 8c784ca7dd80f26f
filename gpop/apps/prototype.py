"""What programs of calls with the same arguments begin with, and how they are run.

An app makes a program, sets parameters and fields and runs it with the options that it was given. To do that
for each call takes longer than many a run, and the next call with the same arguments does the same. A
`Prototype` has what does not change: values of parameters, fields that nobody writes, recipes of the others
(`gpop.program.recipes`), and what the run is asked with. It has no graph, which may keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

import gpop
from gpop.common.arguments import as_count
from gpop.execution.again import Ran, asked_with, made_of, run_again
from gpop.plan.plan import UNLIMITED
from gpop.program.start import Start
from gpop.program.values import NOTHING

T = TypeVar("T")

LOOKED_AT = ("callback", "checkpoint", "progress")
"""Options with which somebody looks at a run that goes on."""

OF_ITS_OWN = (*LOOKED_AT, "gather", "iterations")
"""Options that are none of what a run is asked with."""


class Prototype:
    """Programs that begin like ``program``, and runs of them of so many ``iterations`` at most.

    ``scratch``: fields that are no part of what is made of a run.

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
    >>> [of.run(lambda ran: ran.field("heard"), graph).tolist() for _ in range(2)]
    [[0, 3, 3], [0, 3, 3]]
    """

    def __init__(
        self, program: gpop.Program, iterations: int | None, options: dict[str, Any],
        scratch: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        program._fields.scratch = frozenset(scratch)
        self.cls, self.parameters, self.fields = type(program), program._parameters, program._fields
        self.series = program._series
        self.iterations = as_count("iterations", iterations)
        self.limit = UNLIMITED if iterations is None else min(self.iterations, UNLIMITED)
        self.given, self.watched = options, any(map(options.get, LOOKED_AT))
        self.options = {name: value for name, value in options.items() if name not in OF_ITS_OWN}
        self.asked: tuple = ()

    def program(self, graph: gpop.Graph, first: Mapping[str, dict[int, Any]] = NOTHING) -> gpop.Program:
        """A new one; ``first``: see `run`."""
        return Start(graph, self.cls, self.fields, self.parameters, first, series=self.series).program

    def run(
        self,
        make: Callable[[Ran], T],
        graph: gpop.Graph,
        first: Mapping[str, dict[int, Any]] = NOTHING,
        vertex: int | np.ndarray | None = None,
    ) -> T:
        """What is made of a run, which may not be over by then (`gpop.execution.again.run_again`).

        From one ``vertex``, from several (uint32, ascending), or from all. ``first``: values that some
        vertices have of fields that are as they are declared.
        """
        start = Start(graph, self.cls, self.fields, self.parameters, first, vertex, None, self.series)
        if not self.watched:
            if not self.asked:
                self.asked = asked_with(
                    self.cls, graph.weights, vertex is None, self.iterations, **self.options
                )
            made = run_again(self.asked, start, self.limit, make)
            if made is not None:
                return made
        return self.run_of(start.program, start.sources, make)

    def run_of(
        self,
        program: gpop.Program,
        sources: np.ndarray | None,
        make: Callable[[Ran], T],
        **others: Any,
    ) -> T:
        """The same of a run of a program that is there; ``others``: options in place of the prototype's."""
        ran = Ran(program.graph.name)
        asked = {**self.given, **others, "iterations": self.iterations}
        ran.left = gpop.run(program, sources, **asked)
        return made_of(ran, program, make)
