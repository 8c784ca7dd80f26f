"""The bytes that each strategy of the GPU moves, as functions of plain numbers.

Nothing of a vertex stays in a private cache here, and messages that are pushed pass no bin, so these are
other formulas than the CPU's (model/bytes.py). Counted is what has to do with messages:

    push, vertex-push*        V_a*(d_k + d_l + d_o + d_v) + E_a*(d_e + d_w + d_x)
    levels                    V_a*16 + E_a*(d_e + d_w + d_x)
    edge-list                 V_a*(d_k + d_v) + V*d_b/32 + E*4 + E_a*(d_e + d_w + d_x)
    reverse-edge-list         V_a*d_k + E*(4 + d_b) + E_a*(d_v + d_e + d_w + d_x)
    struct-edge-list          V_a*(d_k + d_v) + V*d_b/32 + E*(4 + d_e + d_w) + E_a*d_x
    reverse-struct-edge-list  V_a*d_k + E*(4 + d_b + d_e + d_w) + E_a*(d_v + d_x)
    owner, vertex-pull*       V_a*d_k + V*d_o + L*(d_e + d_b) + E_a*(d_w + d_v)
    rows                      V*(d_o + d_v) + E*(d_e + d_w + d_v)
    hyb                       V_a*d_k + (H + C)*d_e + C*d_r + E*d_b + E_a*(d_w + d_v)
    bottom-up                 V_a*d_k + V*d_x + V_n*d_o + L*(d_e + d_b) + min(E_a, V_n)*(d_w + d_v)
    bins                      S*d_g + M*(d_s + 2*(d_v + d_m)) + E*(d_i + d_y) + E_a*d_x + (E - E_a)*d_n
    bins-combined             S*d_g + M*(d_s + 2*d_f)         + E*(d_i + d_y) + min(V, M)*d_t
    bins-folded               S*d_g + M*(d_s + d_t)           + E*(d_i + d_y)

with ``V, E, M, S`` the vertices, edges, messages and segments of the layout that a source partition has (the
whole graph, where an iteration is not divided), ``V_a, E_a`` its active vertices and their edges, ``V_n`` the
vertices that want messages, ``L`` the in-edges that are looked at, ``H, C`` the slots of ELL and the entries
of COO; the sizes are in gpu_sizes.py. Of a stream each byte counts once per phase, though neighbouring lanes
may ask for it again: a value is written once and read once, whatever its number of edges. A random access
counts each time: those to the vertex that a message is for (an atomic is one), and those of an owner to the
sources of its in-edges. What the program's functions read of their own vertex, the upkeep of the frontier,
and what waits at hubs (swap.cuh) are in none of them.

All take a `Part` and `DeviceSizes`. The engine's source has these functions, emitted as a program's are.
"""

from __future__ import annotations

from gpop.model.bytes import edges_looked_at
from gpop.model.gpu_sizes import DeviceSizes, Part

ENTRY_BYTES = 16
"""Of an active vertex with the place and the number of its edges."""

EDGE_SOURCE_BYTES = 4
"""Of the source of an edge, where edges lie one by one."""


def push_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Active vertices send along their own edges (kernels/push.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> push_bytes(Part(10, 160, 64, 640), PLAIN)                      # 10*(8 + 12 + 8 + 4) + 160*(4 + 4)
    1600
    """
    found = part.active_vertices * (sizes.kept + sizes.listed + sizes.offset + sizes.value)
    return found + part.active_edges * (sizes.edge + sizes.weight + sizes.vertex)


def levels_bytes(part: Part, sizes: DeviceSizes) -> float:
    """The same while few are active: an entry says where the edges begin (kernels/levels.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> levels_bytes(Part(10, 160, 64, 640), PLAIN)                                      # 10*16 + 160*(4 + 4)
    1440
    """
    return part.active_vertices * ENTRY_BYTES + part.active_edges * (sizes.edge + sizes.weight + sizes.vertex)


def edge_list_bytes(part: Part, sizes: DeviceSizes) -> float:
    """All edges are looked at, by a thread each (kernels/edge_list.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> edge_list_bytes(Part(10, 160, 64, 640), PLAIN)           # 10*(8 + 4) + 64*4/32 + 640*4 + 160*(4 + 4)
    3968.0
    """
    sent = part.active_vertices * (sizes.kept + sizes.value) + part.vertices * sizes.probe / 32
    heard = part.active_edges * (sizes.edge + sizes.weight + sizes.vertex)
    return sent + part.edges * EDGE_SOURCE_BYTES + heard


def reverse_edge_list_bytes(part: Part, sizes: DeviceSizes) -> float:
    """The same by destination, so that sources are met in any order (kernels/reverse_edge_list.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> reverse_edge_list_bytes(Part(10, 160, 64, 640), PLAIN)          # 10*8 + 640*(4 + 4) + 160*(4 + 4 + 4)
    7120
    """
    heard = part.active_edges * (sizes.value + sizes.edge + sizes.weight + sizes.vertex)
    return part.active_vertices * sizes.kept + part.edges * (EDGE_SOURCE_BYTES + sizes.probe) + heard


def struct_edge_list_bytes(part: Part, sizes: DeviceSizes) -> float:
    """All edges are read whole (kernels/struct_edge_list.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> struct_edge_list_bytes(Part(10, 160, 64, 640), PLAIN)    # 10*(8 + 4) + 64*4/32 + 640*(4 + 4) + 160*4
    5888.0
    """
    sent = part.active_vertices * (sizes.kept + sizes.value) + part.vertices * sizes.probe / 32
    return (
        sent + part.edges * (EDGE_SOURCE_BYTES + sizes.edge + sizes.weight) + part.active_edges * sizes.vertex
    )


def reverse_struct_edge_list_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Both (kernels/reverse_struct_edge_list.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> reverse_struct_edge_list_bytes(Part(10, 160, 64, 640), PLAIN)   # 10*8 + 640*(4 + 4 + 4) + 160*(4 + 4)
    9040
    """
    read = EDGE_SOURCE_BYTES + sizes.probe + sizes.edge + sizes.weight
    heard = part.active_edges * (sizes.value + sizes.vertex)
    return part.active_vertices * sizes.kept + part.edges * read + heard


def owner_bytes(part: Part, sizes: DeviceSizes) -> float:
    """The owner of a vertex walks its in-edges (kernels/owner.cuh); not yet known: who still wants any.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> owner_bytes(Part(10, 160, 64, 640), PLAIN)                        # 10*8 + 64*8 + 640*(4 + 4) + 160*4
    6352
    >>> owner_bytes(Part(10, 160, 64, 640), PLAIN._replace(early=1)) < 6352
    True
    """
    looked_at = part.edges
    if sizes.early:
        looked_at = edges_looked_at(part.active_edges, part.vertices, part.edges)
    sent = part.active_vertices * sizes.kept + part.vertices * sizes.offset
    return sent + looked_at * (sizes.edge + sizes.probe) + part.active_edges * (sizes.weight + sizes.value)


def rows_bytes(part: Part, sizes: DeviceSizes) -> float:
    """All vertices combine what all their in-neighbours have sent, and send (kernels/rows.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> rows_bytes(Part(64, 640, 64, 640), PLAIN)                                # 64*(8 + 4) + 640*(4 + 4)
    5888
    """
    return part.vertices * (sizes.offset + sizes.value) + part.edges * (
        sizes.edge + sizes.weight + sizes.value
    )


def hyb_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Rows of ELL, and COO behind them (kernels/hyb.cuh); what is left between the two is not counted.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> hyb_bytes(Part(10, 160, 64, 640, slots=512, entries=200), PLAIN)  # 10*8 + 912*4 + 640*4 + 160*4
    6928
    >>> hyb_bytes(Part(10, 160, 64, 640, slots=512, entries=200), PLAIN._replace(early=1)) < 6928
    True
    """
    read = (part.slots + part.entries) * sizes.edge + part.entries * sizes.row
    probed = part.edges
    if sizes.early:
        probed = edges_looked_at(part.active_edges, part.vertices, part.edges)
        read = probed * sizes.edge
    sent = part.active_vertices * sizes.kept
    return sent + read + probed * sizes.probe + part.active_edges * (sizes.weight + sizes.value)


def wanting_bytes(part: Part, sizes: DeviceSizes) -> float:
    """What is read to find out which vertices want messages, where these ask.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> wanting_bytes(Part(10, 0, 64, 640), PLAIN)                                                      # 64*4
    256
    """
    return part.vertices * sizes.vertex


def bottom_up_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Vertices that want messages ask their in-neighbours (kernels/bottom_up.cuh), until the first message.

    Whether a vertex wants any is read off its own field, which is as wide as what messages are written to.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> asked = Part(10, 0, 64, 640, needy_vertices=50, needy_edges=500)
    >>> bottom_up_bytes(asked, PLAIN)                                     # 10*8 + 64*4 + 50*8 + 500*(4 + 4)
    4736.0
    >>> bottom_up_bytes(asked._replace(active_edges=160), PLAIN) < 4736
    True
    """
    looked_at = edges_looked_at(part.active_edges, part.needy_vertices, part.needy_edges)
    asked = wanting_bytes(part, sizes) + part.needy_vertices * sizes.offset
    heard = min(part.active_edges, part.needy_vertices) * (sizes.weight + sizes.value)
    return part.active_vertices * sizes.kept + asked + looked_at * (sizes.edge + sizes.probe) + heard


def bins_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Values into bins, columns gathered message by message (kernels/bins.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> bins_bytes(Part(10, 160, 64, 640, 320, 8), PLAIN)          # 8*32 + 320*(2 + 2*4) + 640*2 + 640*4
    7296
    >>> marked = PLAIN._replace(mark=1, inactive=0)
    >>> bins_bytes(Part(10, 160, 64, 640, 320, 8), marked) - 7296                              # 640 - 480*4
    -1280
    """
    stream = part.segments * sizes.segment + part.edges * (sizes.id + sizes.bin_weight)
    values = part.messages * (sizes.source + 2 * (sizes.value + sizes.mark))
    others = part.edges - part.active_edges
    return stream + values + part.active_edges * sizes.vertex + others * sizes.inactive


def combined_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Messages of a run combined at their source, runs folded in shared memory (kernels/combined.cuh).

    A partition's own vertices stand for those that hear of it: in the end every vertex with messages is
    folded once, by each block that has a part of its row.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> combined_bytes(Part(10, 160, 64, 640, 320, 8), PLAIN)      # 8*32 + 320*(2 + 2*4) + 640*2 + 64*4
    4992
    """
    stream = part.segments * sizes.segment + part.edges * (sizes.id + sizes.bin_weight)
    runs = part.messages * (sizes.source + 2 * sizes.partial)
    return stream + runs + min(part.vertices, part.messages) * sizes.total


def combined_idle_bytes(part: Part, sizes: DeviceSizes) -> float:
    """What the same moves for a partition that does not send so: every run has a value, and is folded.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> combined_idle_bytes(Part(0, 0, 64, 640, 320, 8), PLAIN)                                # 320*(2 + 2*4)
    3200
    """
    return part.messages * (sizes.source + 2 * sizes.partial)


def folded_bytes(part: Part, sizes: DeviceSizes) -> float:
    """Messages of a run combined at their source, each run folded at its vertex (kernels/folded.cuh).

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> folded_bytes(Part(10, 160, 64, 640, 320, 8), PLAIN)        # 8*32 + 320*(2 + 4) + 640*2
    3456
    """
    stream = part.segments * sizes.segment + part.edges * (sizes.id + sizes.bin_weight)
    return stream + part.messages * (sizes.source + sizes.total)
