"""Around a seed: sparse results, and programs that are kept clean between runs.

A local algorithm touches a small part of the graph. Its program stays with the graph, all fields zero;
a call sets the seeds, runs, reads the touched vertices and zeroes them again. After the first call on a
graph no step is proportional to the number of vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import gpop
from gpop.apps.result import AppResult


@dataclass(frozen=True, kw_only=True)
class LocalResult(AppResult):
    """A vector over the vertices that is zero far from the seeds.

    ``vertices`` (ascending) and ``values``: where it is not zero; ``probability``: all of it, made on demand.
    """

    vertices: np.ndarray
    values: np.ndarray
    n: int = field(repr=False)

    @cached_property
    def probability(self) -> np.ndarray:
        """One value per vertex of the graph."""
        dense = np.zeros(self.n, self.values.dtype)
        dense[self.vertices] = self.values
        return dense


@contextmanager
def clean_program(kind: type[gpop.Program], graph: gpop.Graph) -> Iterator[gpop.Program]:
    """The graph's own program of this kind. After an interrupted run it is not put back."""
    program = graph.cache.pop(kind, None) or kind(graph)
    yield program
    graph.cache[kind] = program


def take(program: gpop.Program, run: gpop.Run, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and values where a field is not zero; every field of the touched vertices becomes zero."""
    touched = run.touched
    values = getattr(program, name).take(touched)
    # Where most vertices were touched, it is faster to go through all of them in order.
    place = slice(None) if touched.size > program.graph.n // 4 else touched
    for other in type(program).vertex_fields():
        getattr(program, other)[place] = 0
    found = values != 0
    if not found.all():
        values = values[found]  # one array after the other: they may be as large as the program's
        touched = touched[found]
    return touched, values
