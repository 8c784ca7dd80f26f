"""The bytes that each strategy moves (GPOP eq. 1, and beyond it pull), as functions of plain numbers.

The paper's form, with every size a parameter instead of one ``d_i = d_v = 4``:

    C_SC = V_a*d_o + E_a*d_e + 2*(M_a*d_v + E_a*(d_i + d_w))
    C_PC = k*d_o + M*d_s + 2*M*d_v + E*(d_i + d_w)
    partition-centric iff C_PC <= ratio * C_SC          (ratio = BW_PC / BW_SC, default 2)

where ``V_a, E_a, M_a`` are the active vertices, their edges and their messages; ``E, M`` all edges
and messages of the partition; ``d_o`` bytes of an offset, ``d_e`` of an edge in CSR with its weight,
``d_i`` of a destination id in a bin, ``d_s`` of a source id in the PNG, ``d_v`` of a message value,
``d_w`` of a weight in a bin (0 when unweighted). SC writes ids (and weights) that the gather
reads again, hence the factor 2; in PC they are static and only read. With ``d_o = d_e = d_i = d_s = 4``
and ``d_w = 0`` these are the formulas of the paper. ``M_a`` is approximated by
``r*E_a``, ``r = M/E``. Where most edges of a partition stay inside it, SC delivers those as it
reads them (cpu/scatter_inside.py): they are in ``E_a*d_e``, and not in what follows.

Where vertices and insertion points stay in the private cache they cause no traffic, but to reach them
takes as long as some bytes of a stream. For the choice alone, each side of (1) gets its share:

    C_SC + E_a*d_b + M_a*d_c        C_PC + E*d_b

``d_b`` for the vertex that an id leads to, ``d_c`` for the insertion points of a bin. Without them PC is
taken too early where edges share messages, and too late where they do not. Neither ``d_b`` and ``d_c``, nor
the edges that SC delivers as it reads them, nor pull are in the paper: ``model="paper"`` (`models.MODELS`)
leaves all of it out, and what remains is (1) with the sizes that the engine really uses.

Pull looks at the in-edges of the vertices that still want messages. Those edges come from the frontier
or from vertices that still want messages themselves (others have sent before), so one of them comes from
the frontier with the chance ``f = E_a / (E_a + E_n)``, where ``V_n, E_n`` are the needy vertices and their
in-edges; a vertex that is satisfied by its first message looks at ``(1 - (1-f)^(E_n/V_n)) / f`` of them:

    C_pull = V*(d_o + 2*d_s) + V_a*d_s + V/8 + looked_at*(d_e + d_b)
    pull iff C_pull / ratio <= sum over partitions of min(C_SC, C_PC / ratio)

since pull reads streams like PC; ``d_b`` is for the probe of a bitmap that stays in the cache.

Who compares them is in choosers.py. The functions are plain arithmetic; the engines compile these same
functions into their loops.
"""

from __future__ import annotations

from typing import NamedTuple

PROBE_BYTES = 8
"""What a probe of the frontier's bitmap costs, or of a vertex that an id leads to: a word from the cache."""

CURSOR_BYTES = 40
"""What an SC message costs beside its stream: two insertion points, read and written, and the bin's start."""


class Sizes(NamedTuple):
    """Bytes of one element of each stream (the banner's d_o, d_e, d_i, d_s, d_v, d_w).

    ``mark`` is the byte beside a PC message that says whether its vertex is active, where a program
    leaves that to the engine. ``probe`` and ``cursor`` (d_b, d_c) are bytes of the cache, not of a stream;
    ``direct`` is 0 where edges that SC delivers as it reads them are to count like all others.
    """

    offset: int
    edge: int
    id: int
    source: int
    value: int
    weight: int
    mark: int = 0
    probe: int = 0
    cursor: int = 0
    direct: int = 1


def sc_bytes(active_vertices, active_edges, messages, sizes, direct_edges=0):
    """Bytes moved by a source-centric scatter and by the gather of what it wrote.

    Of the active edges, ``direct_edges`` need no bin; they are not in ``messages``.

    Examples
    --------
    >>> sc_bytes(10, 160, 80, Sizes(4, 4, 4, 4, 4, 0))        # V_a*4 + 3*E_a*4 + 2*M_a*4
    2600
    """
    read = active_vertices * sizes.offset + active_edges * sizes.edge
    return read + 2 * (messages * sizes.value + (active_edges - direct_edges) * (sizes.id + sizes.weight))


def pc_bytes(edges, messages, partitions, sizes):
    """Bytes moved by a partition-centric scatter and by the gather of what it wrote.

    Examples
    --------
    >>> pc_bytes(160, 80, 8, Sizes(4, 4, 4, 4, 4, 0))         # E*((r+1)*4 + 2*r*4) + k*4, r = 1/2
    1632
    """
    scatter = partitions * sizes.offset + messages * (sizes.source + sizes.value + sizes.mark)
    return scatter + messages * (sizes.value + sizes.mark) + edges * (sizes.id + sizes.weight)


def edges_looked_at(active_edges, needy_vertices, needy_edges):
    """In-edges that needy vertices are expected to look at until their first message.

    Examples
    --------
    >>> edges_looked_at(100, 50, 100), edges_looked_at(0, 50, 100)     # half of the edges: 50 * 1.5
    (75.0, 100.0)
    """
    if needy_vertices <= 0 or active_edges <= 0:
        return 1.0 * needy_edges
    chance = active_edges / (active_edges + needy_edges)
    return needy_vertices * (1.0 - (1.0 - chance) ** (needy_edges / needy_vertices)) / chance


def pull_bytes(vertices, active_vertices, looked_at, sizes):
    """Bytes moved by an iteration in which vertices ask for their messages.

    Examples
    --------
    >>> pull_bytes(64, 2, 10, Sizes(8, 4, 2, 2, 4, 0))                 # 64*12 + 2*2 + 64/8 + 10*12
    900.0
    """
    sweep = vertices * (sizes.offset + 2 * sizes.source) + active_vertices * sizes.source + vertices / 8
    return sweep + looked_at * (sizes.edge + PROBE_BYTES)


def pull_all_bytes(vertices, edges, pieces, values_read, sizes):
    """Bytes moved by an iteration of pull through blocks of in-edges, where every vertex is active.

    Examples
    --------
    >>> pull_all_bytes(8, 100, 30, 20, Sizes(8, 0, 2, 2, 4, 1))       # 2*8*4 + 100*3 + 30*2 + 20*4
    504
    """
    return (
        2 * vertices * sizes.value
        + edges * (sizes.id + sizes.weight)
        + pieces * sizes.id
        + values_read * sizes.value
    )
