"""A graph of which this rank has its part only, loaded from a file by all ranks together.

Rank r reads the r-th of about equal slices of the file, the out-edges of a range of vertices. Then edges are
dealt out to the owners of their destinations; borders are chosen from the counted in-edges. A slice is
``1/R`` of the file's bytes, but for the few offsets that a rank looks at to find where its slice begins.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.graph.facts import Facts
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind, Store
from gpop.graph.validate import ids_fault, offsets_fault
from gpop.io.binary_csr import Content, identify
from gpop.layout.partition import partition_bits
from gpop.ranks.part import InEdges, cut
from gpop.ranks.world import World


class PartGraph(Graph):
    """A graph whose edges are spread over the ranks: this one has those into ``bounds[rank:rank + 2]``.

    Sizes, degrees and facts are those of the whole graph; its arrays are nowhere as a whole.

    Attributes
    ----------
    in_edges : InEdges
        All edges into the rank's range.
    bounds : ndarray of int
        Where the ranges of the ranks begin, and n: borders of partitions of ``2**bits`` vertices.
    bytes_read : int
        What this rank has read of the file.
    """

    def __init__(
        self, n: int, m: int, in_edges: InEdges, bounds: np.ndarray, bits: int, degrees: np.ndarray, *,
        name: str = "", bytes_read: int = 0,
    ) -> None:  # fmt: skip
        self.n, self.m, self.name = n, m, name
        self.in_edges, self.bounds, self.bits, self.bytes_read = in_edges, bounds, bits, bytes_read
        self.weights = None if in_edges.weights is None else in_edges.weights[:0]
        self.original_ids = None
        self.facts = Facts()
        self.store = Store((in_edges.sources, in_edges.targets, in_edges.weights))
        self.store.put(Kind.DEGREES, degrees)

    @property
    def indptr(self) -> NoReturn:
        """Refused: no rank has the whole graph."""
        self._refuse()

    @property
    def indices(self) -> NoReturn:
        """Refused: no rank has the whole graph."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"{self!r} lies in parts on several ranks: what needs the whole graph is for gpop.load on each "
            "of them, or for a run alone"
        )

    def is_symmetric(self) -> bool:
        """Refused: no rank has the whole graph."""
        self._refuse()

    def equals_reverse(self) -> bool:
        """Refused: no rank has the whole graph."""
        self._refuse()


def load_parts(
    path: str | os.PathLike, world: World, *, weighted: bool | None = None, threads: int = 1,
    partition_size: int | None = None,
) -> PartGraph:  # fmt: skip
    """Load a ``.bin`` file on all ranks together, each its part.

    Parameters
    ----------
    path : str or path
    world : World
    weighted : bool, optional
        As for `gpop.load`.
    threads : int
        Of a run on each rank: ranges begin at borders of its partitions.
    partition_size : int, optional
        The same, where runs will be asked for partitions of this size.

    Raises
    ------
    GraphFileError
        As `gpop.load`; on the rank that finds the fault.
    """
    path = Path(path)
    file = _SliceReader(path, weighted)
    content = world.first_ones(file.identified() if world.rank == 0 else None)
    n, m = content.n, content.m
    first, last = (file.border(content, share, world.size) for share in (world.rank, world.rank + 1))
    indptr = file.offsets(content, first, last)
    fault = offsets_fault(indptr - indptr[0], int(indptr[-1] - indptr[0]))
    if fault or indptr[0] < 0 or indptr[-1] > m:
        raise GraphFileError(f"{path} ({content}): {fault or 'offsets beyond the edges'}")
    targets, weights = file.edges(content, int(indptr[0]), int(indptr[-1]), weighted is not False)
    fault = ids_fault(targets, n)
    if fault:
        raise GraphFileError(f"{path} ({content}): from vertex {first} on, {fault}")
    bits = partition_bits(n, threads * world.size, edges=m, partition_size=partition_size)
    counts = np.bincount(targets >> np.uint32(bits), minlength=-(-n >> bits))
    bounds = cut(world.sum(counts), world.size, bits, n)
    degrees = np.diff(indptr).astype(np.uint32)
    sources = np.repeat(np.arange(first, last, dtype=np.uint32), degrees)
    in_edges = deal(InEdges(sources, targets, weights), bounds, world)
    name, degrees = path.name.split(".")[0], world.joined(degrees)
    graph = PartGraph(n, m, in_edges, bounds, bits, degrees, name=name, bytes_read=file.read)
    if weights is not None:
        note_weights(graph, weights, world)
    return graph


def deal(edges: InEdges, bounds: np.ndarray, world: World) -> InEdges:
    """Give every edge to the owner of its destination; what comes is in the order of ranks it comes from."""
    borders = bounds[1:-1].astype(edges.targets.dtype)
    owners = np.searchsorted(borders, edges.targets, side="right")
    owners = owners.astype(np.uint16)  # which are sorted digit by digit
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=world.size)
    sources, targets = (world.dealt(each[order], counts)[0] for each in edges[:2])
    weights = None if edges.weights is None else world.dealt(edges.weights[order], counts)[0]
    return InEdges(sources, targets, weights)


def note_weights(graph: PartGraph, weights: np.ndarray, world: World) -> None:
    """What apps ask of the weights of the whole graph."""
    with np.errstate(over="ignore"):  # as on one rank
        total = world.sum(np.array([weights.sum(dtype=np.float64)]))
    heaviest = world.most(np.array([weights.max(initial=0)]))
    graph.facts.mean_weight = total[0].item() / max(graph.m, 1)
    graph.facts.heaviest_weight = heaviest[0].item()
    lightest = float(weights.min(initial=0))
    below = np.array([np.inf if np.isnan(lightest) else -lightest])
    lowest = -world.most(below)[0].item()
    graph.facts.negative_weight = lowest if lowest < 0 else None


class _SliceReader:
    """Reads pieces of a binary CSR file, and counts the bytes."""

    def __init__(self, path: Path, weighted: bool | None) -> None:
        self.path, self.weighted, self.read = path, weighted, 0

    def identified(self) -> Content:
        """How the file is to be read."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                return identify(self.path, file, os.fstat(file.fileno()).st_size, self.weighted)
        except OSError as error:
            raise GraphFileError(f"{self.path}: cannot be read: {error.strerror or error}") from None

    def values(self, position: int, stored: str, count: int) -> Any:
        """So many numbers from a place in the file."""
        found = np.fromfile(self.path, stored, count, offset=position)
        self.read += found.nbytes
        if found.size < count:
            raise GraphFileError(f"{self.path}: ends early, it shrank while it was read")
        return found

    def offset(self, content: Content, v: int) -> int:
        """Where the edges of a vertex begin."""
        if v == content.n:
            return content.m
        size = np.dtype(content.layout.offset).itemsize
        return int(self.values(content.positions()[0] + v * size, content.layout.offset, 1)[0])

    def border(self, content: Content, share: int, shares: int) -> int:
        """The vertex with which a share begins: offsets and edges before it are so many of all bytes."""
        per_vertex = np.dtype(content.layout.offset).itemsize
        per_edge = np.dtype(content.layout.edge).itemsize + 4 * content.weighted
        wanted = (content.n * per_vertex + content.m * per_edge) * share // shares
        low, high = (0, content.n) if share < shares else (content.n, content.n)
        while low < high:
            middle = (low + high) // 2
            if middle * per_vertex + self.offset(content, middle) * per_edge < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def offsets(self, content: Content, first: int, last: int) -> np.ndarray:
        """Offsets of the vertices of a range, and the end of the last one's edges."""
        size = np.dtype(content.layout.offset).itemsize
        found = self.values(content.positions()[0] + first * size, content.layout.offset, last - first)
        return np.append(found.astype(np.int64), self.offset(content, last))

    def edges(self, content: Content, first: int, last: int, wanted: bool) -> tuple[np.ndarray, Any]:
        """Destinations and weights of a range of edges; None where there are no weights, or none wanted."""
        _, edges_at, weights_at, _ = content.positions()
        size = np.dtype(content.layout.edge).itemsize
        targets = self.values(edges_at + first * size, content.layout.edge, last - first)
        fault = ids_fault(targets, content.n) if size > 4 else None
        if fault:
            raise GraphFileError(f"{self.path} ({content}): {fault}")
        weights = None
        if content.weighted and wanted:
            weights = self.values(weights_at + 4 * first, "<u4", last - first).astype(np.uint32, copy=False)
        return targets.astype(np.uint32, copy=False), weights
