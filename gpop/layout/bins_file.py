"""Layouts kept in files and mapped back: bins are built once per graph, not once per process.

``graph.facts.layout_directory``, or the environment variable GPOP_LAYOUTS, names a directory; then
`gpop.layout.kept_bins.bins_of` opens the layout from there, or builds it and leaves it there.

One file, native byte order::

    header (one page) | slots | id_offsets | sources | ids | id_weights      each begins on a new page

The header has a magic number and the format's version, what the layout belongs to (a hash of the
graph's offsets, destinations, weights and their types; the bits of q), the file that the graph came
from (`gpop.layout.orphans`), type, size and hash of every section, and a hash of itself. The lists of
non-empty bins follow from ``id_offsets`` and are not kept.

A file is never trusted. On opening, header, sizes and the hashes of all sections are checked: hashing
reads every byte once, which is many times faster than rebuilding. Then, whatever the hashes say, offsets
must ascend from 0 to m, every bin must have as many first ids as message slots, and every id must lie
in its partition, so that no kernel reads or writes outside its arrays. What fails is as if there were
no file: built anew and replaced. Files are replaced by renaming; several writers do no harm, and where
nothing can be written, nothing is.

The mapping is private and copy-on-write: pages are shared between processes until somebody writes.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path

import numpy as np

from gpop.common.array_hash import hash_array
from gpop.common.cached import cached
from gpop.common.errors import GraphFileError
from gpop.common.inlined import KERNEL, inline
from gpop.common.parallel import for_each, ranges, worker_count
from gpop.common.replacing import replacing
from gpop.common.write_arrays import write_array
from gpop.graph.graph import Graph
from gpop.layout.bins import Bins, build_bins, id_dtype, nonempty, source_dtype
from gpop.layout.file_header import HEADER, MAGIC, PAGE, SECTIONS, VERSION, header_hash
from gpop.layout.narrow_weights import narrow_dtype
from gpop.layout.orphans import origin, remove_orphans
from gpop.layout.partition import partition_count


def content_hash(graph: Graph) -> int:
    """Hash of everything a layout depends on; kept with the graph.

    Examples
    --------
    >>> content_hash(Graph.from_edges([0], [1])) == content_hash(Graph.from_edges([1], [0]))
    False
    """
    if graph.facts.content_hash is None:
        parts = [hash_array(graph.indptr), hash_array(graph.indices), 0]
        if graph.weights is not None:
            dtype = np.frombuffer(graph.weights.dtype.str.encode().ljust(8), np.uint64)
            parts[2:] = [hash_array(graph.weights), int(dtype[0])]
        graph.facts.content_hash = hash_array(np.array(parts, np.uint64))
    return graph.facts.content_hash


def layout_path(graph: Graph, bits: int, directory: str | os.PathLike) -> Path:
    """Where the layout of this graph and ``q = 2**bits`` is kept in ``directory``."""
    name = re.sub(r"[^\w.-]", "_", graph.name or "graph")[:80]
    return Path(directory) / f"{name}-{content_hash(graph):016x}-q{1 << bits}.layout"


def layout_of(graph: Graph, bits: int, threads: int, directory: str | os.PathLike) -> Bins:
    """The layout from ``directory``, or built and left there for the next time if that is possible."""
    path = layout_path(graph, bits, directory)
    bins = open_layout(graph, path, bits)
    if bins is not None:
        graph.facts.layout_told = f"mapped from {path}"
        return bins
    bins = build_bins(graph, bits, threads)
    try:
        save_layout(graph, path, bits, bins)
        remove_orphans(graph, path)
        graph.facts.layout_told = f"built, and kept in {path}"
    except GraphFileError as error:  # a directory that is missing, full or read-only: no cache
        graph.facts.layout_told = f"built, and not kept: {error}"
    return bins


def save_layout(graph: Graph, path: str | os.PathLike, bits: int, bins: Bins | None = None) -> None:
    """Write the layout of a graph, built unless given; the file appears whole or not at all.

    Raises
    ------
    GraphFileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> path = Path(tempfile.mkdtemp()) / "ring.layout"
    >>> save_layout(graph, path, bits=1)
    >>> open_layout(graph, path, bits=1).messages
    3
    """
    bins = bins or build_bins(graph, bits, worker_count())
    header = np.zeros(1, HEADER)
    header["magic"], header["version"] = MAGIC, VERSION
    header["graph"], header["bits"], header["sorted"] = content_hash(graph), bins.bits, bins.sorted
    header["file"], header["state"] = origin(graph)
    arrays = [getattr(bins, name) for name in SECTIONS]
    header["types"] = [array.dtype.str.encode() for array in arrays]
    header["sizes"] = [array.size for array in arrays]
    header["hashes"] = [hash_array(array) for array in arrays]
    header["own_hash"] = header_hash(header)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        write_array(header, file)
        for array in arrays:
            file.write(bytes(-file.tell() % PAGE))
            write_array(array, file)


def open_layout(graph: Graph, path: str | os.PathLike, bits: int) -> Bins | None:
    """The layout in a file, mapped; None unless it is an intact one of this graph, q and version."""
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # missing, not readable, or empty
        return None
    sections = _sections(graph, bits, data)
    if sections is None:
        return None
    header, (slots, id_offsets, sources, ids, id_weights) = sections
    n, k = graph.n, partition_count(graph.n, bits)
    if not _consistent(n, bits, k, *sections[1][:4]):
        return None
    counts = np.diff(id_offsets).reshape(k, k)
    return Bins(
        np.int64(n), np.uint32(bits), np.int64(k), graph.indptr, graph.indices,
        graph.weights if graph.weights is not None else np.empty(0, np.uint32),
        slots, sources, id_offsets, ids, id_weights, *nonempty(counts.T), *nonempty(counts),
        np.bool_(header["sorted"]),
    )  # fmt: skip


def _sections(graph: Graph, bits: int, data: mmap.mmap) -> tuple[np.void, list[np.ndarray]] | None:
    """Header and arrays if their bytes are those that were written for this graph."""
    if len(data) < PAGE:
        return None
    header = np.frombuffer(data, HEADER, 1)
    if header["magic"][0] != MAGIC or header["version"][0] != VERSION:
        return None
    if header["own_hash"][0] != header_hash(header):
        return None
    if header["graph"][0] != content_hash(graph) or header["bits"][0] != bits:
        return None
    squared = partition_count(graph.n, bits) ** 2 + 1
    sizes = header["sizes"][0].tolist()
    weights = np.empty(0, np.uint32) if graph.weights is None else graph.weights
    dtypes = [np.dtype(np.int64)] * 2 + [source_dtype(bits), id_dtype(bits), narrow_dtype(weights)]
    dtypes = [np.dtype(dtype) for dtype in dtypes]
    if [dtype.str.encode() for dtype in dtypes] != header["types"][0].tolist():
        return None
    if sizes != [squared, squared, sizes[2], graph.m, weights.size]:
        return None
    arrays, position = [], HEADER.itemsize
    for dtype, size, expected in zip(dtypes, sizes, header["hashes"][0].tolist(), strict=True):
        position += -position % PAGE
        if position + size * dtype.itemsize > len(data):
            return None
        array = np.frombuffer(data, dtype, size, position) if size else np.empty(0, dtype)
        if hash_array(array) != expected:
            return None
        arrays.append(array)
        position += array.nbytes
    return (header[0], arrays) if position == len(data) else None


@inline
def _partition_fits(p, n, bits, k, slots, id_offsets, sources, ids):
    """Whether what partition ``p`` sends and receives can be walked without leaving any array."""
    first = np.int64(p) << np.int64(bits)
    size = np.uint32(min(np.int64(1) << np.int64(bits), n - first))
    sent = sources[slots[p * k] : slots[p * k + k]]
    fits = True
    for i in range(len(sent)):
        fits &= np.uint32(sent[i]) < size
    top = np.uint32(8 * ids.itemsize - 1)
    local = (np.uint32(1) << top) - np.uint32(1)
    for s in range(k):
        start = id_offsets[p * k + s]
        bin_ids = ids[start : id_offsets[p * k + s + 1]]
        messages = np.int64(0)
        for i in range(len(bin_ids)):
            fits &= np.uint32(bin_ids[i]) & local < size
            messages += np.int64(bin_ids[i] >> top)
        fits &= messages == slots[s * k + p + 1] - slots[s * k + p]
        if len(bin_ids) > 0:
            fits &= bin_ids[0] >> top == 1
    return fits


@cached(**KERNEL)
def _partitions_fit(begin, end, n, bits, k, slots, id_offsets, sources, ids):
    for p in range(begin, end):
        if not _partition_fits(p, n, bits, k, slots, id_offsets, sources, ids):
            return False
    return True


def _consistent(n, bits, k, slots, id_offsets, sources, ids) -> bool:
    """Whether kernels can walk these arrays, whatever they hold."""
    for offsets, end in ((slots, sources.size), (id_offsets, ids.size)):
        if offsets[0] != 0 or offsets[-1] != end or (offsets[1:] < offsets[:-1]).any():
            return False
    pieces = ranges(k, max(1, k // 64))
    results = np.zeros(len(pieces), np.bool_)

    def check(i):
        results[i] = _partitions_fit(*pieces[i], n, bits, k, slots, id_offsets, sources, ids)

    for_each(len(pieces), check)
    return bool(results.all())
