"""What the formulas of bytes on a GPU (gpu_bytes.py) are of: how much there is, and how large one of it is.

``d_k`` and the like are the names that the formulas have for the sizes.
"""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """What a source partition has, or the whole graph, and what of it is active.

    ``messages`` and ``segments`` are those that it sends and fills in the partition-centric layout. The needy
    vertices are those that want messages, with all their in-edges; ``slots``, ``entries`` are HYB's.
    """

    active_vertices: float
    active_edges: float
    vertices: float
    edges: float
    messages: float = 0.0
    segments: float = 0.0
    needy_vertices: float = 0.0
    needy_edges: float = 0.0
    slots: float = 0.0
    entries: float = 0.0


class DeviceSizes(NamedTuple):
    """Bytes of one element of each stream, and of one random access, in one compiled engine.

    Attributes
    ----------
    kept : int
        d_k: what scatter moves where messages are sent one by one: the vertex in the list, and its value.
    listed : int
        d_l: of a vertex that gather finds in the list: its entry, and an offset that no neighbour reads; 0
        where all are active.
    offset : int
        d_o: where the edges of a vertex begin.
    edge, weight : int
        d_e, d_w: a neighbour's id in CSR, and the weight.
    id, bin_weight, source : int
        d_i, d_y, d_s: of a destination, its weight, and the source of a message, as they lie in the bins.
    value, mark : int
        d_v, d_m: of a message where it is kept between scatter and gather, and its mark; 0 where it is
        computed when it is delivered.
    partial : int
        d_f: of the combined messages of a run.
    segment : int
        d_g: the header of a segment (gpu/device_tables.py).
    vertex, inactive : int
        d_x: of an access to the vertex that a message is for; d_n: the same of a message that an inactive
        vertex sends, which is 0 where those are told apart before.
    total : int
        d_t: of an access to the cell in which all messages of a vertex are folded.
    probe : int
        d_b: the word of the frontier's bits that says whether a source is active; 0 where all are.
    early : int
        1 where a vertex may be satisfied before its last in-edge.
    row : int
        d_r: of the row of an entry of COO; 0 where a vertex takes its messages one by one.
    """

    kept: int
    listed: int
    offset: int
    edge: int
    weight: int
    id: int
    bin_weight: int
    source: int
    value: int
    mark: int
    partial: int
    segment: int
    vertex: int
    inactive: int
    total: int
    probe: int
    early: int
    row: int


PLAIN = DeviceSizes(
    kept=8, listed=12, offset=8, edge=4, weight=0, id=2, bin_weight=0, source=2, value=4, mark=0, partial=4,
    segment=32, vertex=4, inactive=4, total=4, probe=4, early=0, row=4,
)  # fmt: skip
"""Messages, fields and ids of 4 bytes, no weights: what the examples have."""
