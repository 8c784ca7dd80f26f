"""Bytes that come over the link where edges are streamed, as functions of plain numbers.

Of an array that grows with the edges some pages are copies on the device; the others are read in place, in
the host's memory (gpu/kernels/stored.cuh). What is asked for comes in sectors, so that the edges of a vertex
bring some of its neighbours' along; where all are asked for, each comes once:

    push        s * min(E * d, E_a * d + V_a * z)
    vertices    s * (min(E * d_e, L * d_e + V_n * z_e) + H * d_w)     that ask along their in-edges
    bins        what the partition's columns, or rows, have away

with ``s`` the share of the edges that is away, ``d = d_e + d_w``, ``z`` what a sector has beyond one element
(of ids and of weights), ``L`` the in-edges that are looked at and ``H`` those of them that are heard; the
other letters are those of model/gpu_bytes.py. A byte over the link costs more than one of the device: the
choosers weigh it with a measured factor (gpu/calibrate.py).

Papers: Min et al., "EMOGI" (VLDB 2020); Wang et al., "HyTGraph" (ICDE 2023), which chooses per round as well.
"""

from __future__ import annotations

from typing import NamedTuple

from gpop.model.bytes import edges_looked_at
from gpop.model.gpu_sizes import DeviceSizes, Part
from gpop.model.strategies import PC, PULL, SC

SECTOR = 32
"""Bytes that the device asks for at least."""


class Away(NamedTuple):
    """What lies with the host: the share of a part's edges, and the bytes of its bins."""

    edges: float
    bins: float


def pushed_over_link(part: Part, sizes: DeviceSizes, away: Away) -> float:
    """Active vertices read their own edges.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> pushed_over_link(Part(10, 160, 64, 640), PLAIN, Away(0.5, 0))         # half of 160*4 + 10*(32 - 4)
    460.0
    >>> pushed_over_link(Part(64, 640, 64, 640), PLAIN, Away(1.0, 0))
    2560.0
    """
    each, beyond = sizes.edge + sizes.weight, SECTOR - sizes.edge
    if sizes.weight > 0:
        beyond = beyond + SECTOR - sizes.weight
    asked = part.active_edges * each + part.active_vertices * beyond
    return away.edges * min(1.0 * part.edges * each, 1.0 * asked)


def asked_over_link(part: Part, sizes: DeviceSizes, away: Away) -> float:
    """Vertices that want messages read their in-edges, until the first message where that is enough.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> asked_over_link(Part(10, 0, 64, 640, 0, 0, 4, 40), PLAIN, Away(0.5, 0))      # half of 40*4 + 4*28
    136.0
    """
    return asked_by(part.needy_vertices, part.needy_edges, part, sizes, away)


def owned_over_link(part: Part, sizes: DeviceSizes, away: Away) -> float:
    """The same of every vertex.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> owned_over_link(Part(10, 160, 64, 640), PLAIN, Away(0.5, 0))
    1280.0
    """
    return asked_by(part.vertices, part.edges, part, sizes, away)


def asked_by(vertices: float, edges: float, part: Part, sizes: DeviceSizes, away: Away) -> float:
    """Of so many vertices with so many in-edges."""
    looked_at = 1.0 * edges
    if sizes.early:
        looked_at = edges_looked_at(part.active_edges, vertices, edges)
    asked = looked_at * sizes.edge + vertices * (SECTOR - sizes.edge)
    heard = min(1.0 * part.active_edges, looked_at) * sizes.weight
    return away.edges * (min(1.0 * part.edges * sizes.edge, asked) + heard)


def binned_over_link(part: Part, sizes: DeviceSizes, away: Away) -> float:
    """A partition sends all its messages: ids, weights and sources of its bins, never values.

    Examples
    --------
    >>> from gpop.model.gpu_sizes import PLAIN
    >>> binned_over_link(Part(10, 160, 64, 640, 320, 8), PLAIN, Away(0.5, 960))
    960.0
    """
    return 1.0 * away.bins


LINK_BYTES = {SC: pushed_over_link, PC: binned_over_link, PULL: owned_over_link}
"""Of the strategies of each mode; an iteration that pulls among others is `asked_over_link`."""
