"""A graph whose edges stay on disk: layouts that are opened, not built.

`open_mapped` makes a `Graph` over the folder of `gpop.layout.mapped_file`: offsets are read, all that is as
long as the edges is mapped. ``graph.facts.mapped`` is its `Mapped`, which `bins_of`, `in_edges` and
`blocks_of` ask before they build anything. What it hands out is the same arrays each time and takes no memory
of the graph's store, so nothing is lost when the store drops it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.graph.facts import Facts
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind
from gpop.graph.kept_bytes import Bytes
from gpop.layout.bins import Bins, nonempty
from gpop.layout.edge_block_plan import BY_ID, IN_ORDER
from gpop.layout.edge_blocks import Blocks
from gpop.layout.mapped_file import NAMES, MappedArrays
from gpop.layout.partition import partition_count


class Mapped:
    """The layouts of a graph on disk; ``arrays``: all that there is, by name."""

    def __init__(self, graph: Graph, arrays: MappedArrays) -> None:
        said = arrays.said
        self.arrays, self.bits, self.nbytes = arrays, int(said["bits"]), arrays.nbytes
        n, k = graph.n, partition_count(graph.n, self.bits)
        weights = np.empty(0, np.uint32) if graph.weights is None else graph.weights
        slots, id_offsets = np.array(arrays["slots"]), np.array(arrays["id_offsets"])
        counts = np.diff(id_offsets).reshape(k, k)
        self.bins = Bins(
            np.int64(n), np.uint32(self.bits), np.int64(k), graph.indptr, graph.indices, weights,
            slots, arrays["sources"], id_offsets, arrays["ids"], arrays["id_weights"],
            *nonempty(counts.T), *nonempty(counts), np.bool_(said["sorted"]),
        )  # fmt: skip
        self.blocks = {
            weighted: Blocks(
                np.int64(n), np.uint32(said["unit_bits"]), np.int64(arrays["bounds"].size - 1), graph.indptr,
                np.array(arrays["bounds"]), np.array(arrays["first_block"]),
                arrays["blocks"].reshape(-1, 6), arrays["refs"], arrays["targets"],
                arrays["block_weights"] if weighted else np.empty(0, np.uint32),
                np.int64(said["pieces"]), np.int64(said["values_read"]),
                BY_ID, np.empty(0, np.uint16), IN_ORDER,
            )
            for weighted in {False, graph.weights is not None}
        }  # fmt: skip
        self.narrow = arrays.arrays.get("narrow", weights)

    def put(self, graph: Graph) -> None:
        """Have in the graph's store what takes no memory there: its reverse and narrow weights."""
        if graph.weights is not None and graph.store.get(Kind.WEIGHTS) is None:
            graph.store.put(Kind.WEIGHTS, self.narrow, about="on disk", holds=Bytes(0))
        if "in_indptr" in self.arrays and graph.store.get(Kind.REVERSE) is None:
            turned = self.arrays
            weights = turned["in_weights"] if graph.weights is not None else None
            reverse = Graph(np.array(turned["in_indptr"]), turned["in_indices"], weights, name=graph.name)
            reverse.original_ids = graph.original_ids
            reverse.facts.equals_reverse = False
            graph.store.put(Kind.REVERSE, reverse, about="on disk", holds=reverse.indptr, graph=reverse)


def open_mapped(folder: Path, weighted: bool | None = None) -> Graph:
    """A graph over the arrays of a folder; ``weighted`` as for `gpop.load`.

    Raises
    ------
    GraphFileError
        See `gpop.layout.mapped_file.read_header`, and where weights are asked for that are not there.
    """
    arrays = MappedArrays(folder)
    said = arrays.said
    if weighted and "weights" not in arrays:
        raise GraphFileError(f"{folder}: has no weights, expected a weighted graph")
    weights = arrays["weights"] if "weights" in arrays and weighted is not False else None
    original_ids = np.load(folder / NAMES, allow_pickle=False) if _named(folder, said) else None
    graph = Graph(np.array(arrays["indptr"]), arrays["indices"], weights, original_ids=original_ids)
    graph.name = said["name"]
    if (graph.n, graph.m) != (said["vertices"], said["edges"]):
        raise GraphFileError(f"{folder}: {graph.n} vertices, {graph.m} edges, expected those of its header")
    _know(graph.facts, said["facts"])
    graph.facts.mapped = Mapped(graph, arrays)
    graph.facts.mapped.put(graph)
    return graph


def _named(folder: Path, said: dict) -> bool:
    """Whether the vertices have names; a header of a first version leaves it to the file."""
    return said["names"] is not None if "names" in said else (folder / NAMES).is_file()


def _know(facts: Facts, said: dict) -> None:
    """What was found out when the graph was written."""
    facts.ascending = said["ascending"]
    facts.equals_reverse = said["equals_reverse"]
    if facts.equals_reverse:
        facts.symmetric = True
    facts.most_in_edges = said["most_in_edges"]
    if said.get("lightest", -1) >= 0:
        facts.heaviest_weight = said["heaviest"]
        facts.mean_weight = said.get("mean_weight")
