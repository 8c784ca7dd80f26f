"""Ligra adjacency graphs (``.adj``): the CSR arrays as text, one number a line.

    AdjacencyGraph | WeightedAdjacencyGraph
    n
    m
    offset of each vertex (n)
    neighbour of each edge (m), ids from 0
    weight of each edge (m), when weighted

Weights are integers. Numbers may be parted by any white space.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.memory import require_memory
from gpop.common.parallel import for_each, ranges
from gpop.common.replacing import replacing
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.edge_pieces import narrow
from gpop.graph.graph import Graph
from gpop.graph.validate import ids_fault, offsets_fault
from gpop.io.compressed import open_to_write
from gpop.io.text import first_line, line_error, pieces_of, text_blocks
from gpop.io.text_values import whole_weights
from gpop.io.token_kernels import parse_integers, write_numbers

_KINDS = {b"AdjacencyGraph": False, b"WeightedAdjacencyGraph": True}
_NUMBERS = 1 << 19  # written at a time


def read(path: Path, *, weighted: bool | None = None, progress: bool = False) -> Graph:
    """Read an adjacency graph; ``weighted=False`` ignores its weights, ``True`` demands them."""
    has_weights = None
    parts: list[np.ndarray] = []
    line = 1
    for block in text_blocks(path, progress):
        if has_weights is None:
            text, start, end = first_line(block, b"\n")
            line += block[:start].count(b"\n")
            if not text:
                continue
            has_weights = _KINDS.get(text)
            if has_weights is None:
                raise line_error(path, text, line, "expected AdjacencyGraph or WeightedAdjacencyGraph")
            line += 1
            block = block[end:]
        parts += _parse_block(path, block, line)
        line += block.count(b"\n")
    if has_weights is None:
        raise GraphFileError(f"{path}: is empty, expected AdjacencyGraph or WeightedAdjacencyGraph")
    if weighted and not has_weights:
        raise GraphFileError(f"{path}: is an AdjacencyGraph, expected a WeightedAdjacencyGraph")
    return _to_graph(path, parts, has_weights, weighted is not False)


def _parse_block(path: Path, block: bytes, line: int) -> list[np.ndarray]:
    """The numbers of a block, in pieces."""
    bounds = pieces_of(block)
    require_memory(8 * len(block), f"{path}: its numbers")
    data = np.frombuffer(block, np.uint8)
    parts: list = [None] * len(bounds)
    faults: dict[int, int] = {}

    def parse(i):
        text = data[slice(*bounds[i])]
        numbers = np.empty(len(text) // 2 + 1, np.int64)
        count, bad = parse_integers(text, numbers)
        if bad >= 0:
            faults[i] = bounds[i][0] + bad
        parts[i] = narrow(numbers[:count])

    for_each(len(parts), parse)
    if faults:
        at = faults[min(faults)]
        start = block.rfind(b"\n", 0, at) + 1
        text = block[start : block.index(b"\n", at)]
        raise line_error(path, text, line + block[:at].count(b"\n"), "expected integers below 2^63")
    return parts


def _to_graph(path: Path, parts: list[np.ndarray], has_weights: bool, take_weights: bool) -> Graph:
    """CSR arrays cut out of the numbers of the file."""
    starts = np.cumsum([0, *map(len, parts)])
    total = int(starts[-1])

    def numbers(first: int, last: int, dtype) -> np.ndarray:
        array = np.empty(last - first, dtype)
        for part, start in zip(parts, starts, strict=False):
            low, high = max(first, start), min(last, start + len(part))
            if low < high:
                array[low - first : high - first] = part[low - start : high - start]
        return array

    if total < 2:
        raise GraphFileError(f"{path}: {total} numbers, expected n and m first")
    n, m = numbers(0, 2, np.int64).tolist()
    expected = 2 + n + m * (1 + has_weights)
    if not 0 <= n <= MOST_VERTICES or m < 0 or total != expected:
        raise GraphFileError(f"{path}: {total} numbers, expected {expected} for n = {n}, m = {m}")
    require_memory(8 * n + 12 * m, f"{path}: n={n}, m={m}")
    indptr = np.append(numbers(2, 2 + n, np.int64), m)
    # int64 where an id is outside 32 bits, so that the check sees it as it is
    wide = any(part.dtype == np.int64 for part in parts)
    indices = numbers(2 + n, 2 + n + m, np.int64 if wide else np.uint32)
    fault = offsets_fault(indptr, m) or ids_fault(indices, n)
    if fault:
        raise GraphFileError(f"{path}: {fault}")
    weights = None
    if has_weights and take_weights:
        weights = numbers(2 + n + m, expected, np.int64 if wide else np.uint32)
        weights = narrow(weights) if wide else weights
    return Graph(indptr, indices.astype(np.uint32, copy=False), weights)


def write(graph: Graph, path: Path) -> None:
    """Write an adjacency graph, weighted when the graph is; weights must be integers."""
    weights = whole_weights(graph, path)
    if (
        weights is not None
        and len(weights)
        and not -(2**63) < int(weights.min()) <= int(weights.max()) < 2**63
    ):
        raise UsageError(f"{path}: a weight of 64 bits, expected integers below 2^63 (.el stores any weight)")
    kind = "AdjacencyGraph" if weights is None else "WeightedAdjacencyGraph"
    with replacing(path) as temporary, open_to_write(temporary, path) as file:
        file.write(f"{kind}\n{graph.n}\n{graph.m}\n".encode())
        text = np.empty(21 * _NUMBERS, np.uint8)
        for array in (graph.indptr[:-1], graph.indices, weights):
            for first, last in ranges(0 if array is None else len(array), _NUMBERS):
                file.write(text[: write_numbers(array[first:last], text)].data)
