"""What a run begins with: a program, or what one is made of where somebody wants it.

To make a program, its fields and their values takes longer than many a run on a GPU, and where all of it is
in memory of the device already, nobody looks at it (`gpop.gpu.one_block`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpop.graph.graph import Graph
from gpop.program.program import Program
from gpop.program.values import NOTHING, Fields


class Start:
    """Fields and parameters of a program of this class, and the vertices that are active first.

    Attributes
    ----------
    first : mapping
        By field: values that some vertices have in place of those that the field is declared with.
    vertices : int or ndarray of uint32, or None
        One vertex, several, or all.
    series : mapping
        By parameter: the values that some have in each iteration.
    shared : bool
        Whether fields and parameters are those of many runs, which nobody changes.

    Examples
    --------
    >>> import gpop
    >>> from gpop.apps.bfs import BFS
    >>> program = BFS(gpop.Graph.from_edges([0, 1], [1, 2]))
    >>> start = Start(program.graph, BFS, program._fields, {}, {"level": {1: 0}}, 1)
    >>> start.program.level, start.sources, program.level
    (array([-1,  0, -1], dtype=int32), array([1], dtype=uint32), array([-1, -1, -1], dtype=int32))
    """

    __slots__ = ("_program", "cls", "fields", "first", "graph", "parameters", "series", "shared", "vertices")

    def __init__(
        self, graph: Graph, cls: type[Program], fields: Fields, parameters: dict[str, Any],
        first: Mapping[str, dict[int, Any]] = NOTHING, vertices: int | np.ndarray | None = None,
        program: Program | None = None, series: Mapping[str, np.ndarray] = NOTHING,
    ) -> None:  # fmt: skip
        self.series = series
        self.graph, self.cls, self.fields, self.parameters = graph, cls, fields, parameters
        self.first, self.vertices, self._program, self.shared = first, vertices, program, program is None

    @property
    def made(self) -> Program | None:
        """The program, if anybody has wanted it."""
        return self._program

    @property
    def program(self) -> Program:
        """The program, which is made when it is first wanted."""
        if self._program is None:
            fields = self.fields.alike(self.first)
            self._program = self.cls._beginning(self.graph, fields, self.parameters.copy(), self.series)
        return self._program

    def of_program(self) -> Start:
        """The same, of its program alone."""
        program = self.program
        return Start(
            self.graph, self.cls, program._fields, program._parameters, NOTHING, self.vertices, program
        )

    @property
    def sources(self) -> np.ndarray | None:
        """The vertices as an array; None for all."""
        return np.array([self.vertices], np.uint32) if type(self.vertices) is int else self.vertices
