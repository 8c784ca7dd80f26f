"""A graph on disk with its layouts, run from there: the folder ``NAME.mapped`` (`gpop.layout.mapped_file`).

`read` opens it without reading the edges. `write` builds the layouts of a graph in memory; with
`layout_folder` the graph may be larger than that, as ``python -m gpop.convert --layout`` does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from gpop.common.errors import NotEnoughMemory, UsageError
from gpop.common.memory import available_bytes, readable
from gpop.common.replacing_folder import replacing_folder
from gpop.common.spill import Spill
from gpop.graph.graph import Graph
from gpop.io.ids import storable
from gpop.layout.mapped import open_mapped
from gpop.layout.mapped_build import build_mapped, fixed_bytes
from gpop.layout.mapped_file import HEADER, SUFFIX

HOLDS_IDS = True

LEAST = 16_000_000
"""Bytes for edges below which there would be more files than is sensible."""


class Writer:
    """What `layout_folder` yields: read the graph inside `reading`, then call it once with the graph."""

    def __init__(self, path: Path, folder: Path, memory: int) -> None:
        self.path, self.folder, self.memory = path, folder, memory
        self.room = Spill(folder / "spill", memory)
        self.room.folder.mkdir()
        self.bytes = 0

    def reading(self) -> AbstractContextManager[Spill]:
        """While this is open, graphs that are read or generated lie on disk."""
        return self.room.begin()

    def __call__(self, graph: Graph, progress: bool = False) -> None:
        """Write the graph and its layouts.

        Raises
        ------
        NotEnoughMemory
            If what does not grow with the edges takes more than there is.
        """
        graph.original_ids = storable(graph, self.path)
        fixed = fixed_bytes(graph)
        if fixed + LEAST > self.memory:
            raise NotEnoughMemory(
                f"{self.path}: {readable(self.memory)} for {graph.n} vertices and their bins: expected at "
                f"least {readable(fixed + LEAST)} (--memory)"
            )
        self.room.memory = self.memory - fixed
        build_mapped(graph, self.folder, self.room, progress=progress)
        self.bytes = sum(file.stat().st_size for file in self.folder.iterdir())


@contextmanager
def layout_folder(path: Path, memory: int | None = None) -> Iterator[Writer]:
    """Write a graph on disk with at most ``memory`` bytes; the folder appears whole or not at all.

    By default half of what is available.
    """
    if path.suffix != SUFFIX:
        raise UsageError(f"{path}: expected a name ending in {SUFFIX}, for a graph with its layouts")
    with replacing_folder(path, HEADER) as folder:
        yield Writer(path, folder, available_bytes() // 2 if memory is None else memory)


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Open a graph on disk; ``weighted=False`` leaves its weights out, ``True`` demands them."""
    return open_mapped(path, weighted)


def write(graph: Graph, path: Path) -> None:
    """Write a graph and its layouts; the folder appears whole or not at all."""
    with layout_folder(path) as writer:
        writer(graph)
