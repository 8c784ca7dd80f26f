"""The strategies: every way in which messages travel, one record each, and the modes that they are ways of.

A *mode* says who starts a message: its active source along its own edges (``sc``), a whole partition for
all its vertices (``pc``), or the vertex that wants it (``pull``). A *strategy* is one way to do that, on one
target, over some layouts: a file of kernels and a record here. Values of ``--mode``, the columns of a trace,
what `gpop.compare` offers and the tables of modes follow from the records. What else may be asked for in
place of a mode: asked.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpop.model.bytes import pc_bytes, pull_all_bytes, pull_bytes, sc_bytes
from gpop.model.gpu_bytes import (
    bins_bytes,
    bottom_up_bytes,
    combined_bytes,
    combined_idle_bytes,
    edge_list_bytes,
    folded_bytes,
    hyb_bytes,
    levels_bytes,
    owner_bytes,
    push_bytes,
    reverse_edge_list_bytes,
    reverse_struct_edge_list_bytes,
    rows_bytes,
    struct_edge_list_bytes,
)

SC, PC, PULL = 0, 1, 2
"""Codes of the modes, in the engines' arrays and in their choices."""

TREE = "tree"
"""A decision tree chooses for each iteration: that of this machine, or ``tree:FILE`` (`gpop.model.trees`)."""


def name_of(asked: str) -> str:
    """The name in what is asked for, without what may follow it (`gpop.model.asked`).

    Examples
    --------
    >>> name_of("vertex-push-warp:8-32/masked"), name_of("tree:roads.json"), name_of("auto")
    ('vertex-push-warp', 'tree', 'auto')
    """
    return asked.partition(":")[0].partition("/")[0]


@dataclass(frozen=True)
class Mode:
    """A communication mode: its code, its value of ``--mode`` and what it does, in one line."""

    code: int
    name: str
    about: str

    @property
    def column(self) -> str:
        """Column of the trace: partitions that took this mode."""
        return f"partitions_{self.name}"


@dataclass(frozen=True)
class Strategy:
    """One way to deliver the messages of an iteration.

    Attributes
    ----------
    name : str
    mode : int
        Code of the mode that it is a way of.
    target : str
    kernels : str
        The file that has them, below ``gpop/``.
    layouts : tuple of str
        What of a graph it reads.
    bytes : function
        What it moves, of plain numbers (`gpop.model.bytes`, `gpop.model.gpu_bytes`).
    about : str
        One line.
    all_active : bool or None
        Whether it is for programs whose every vertex is active, for the others, or for both (None).
    auto : bool
        Whether auto may choose it; for pull this takes a ``needsFunc`` as well.
    interleaves : bool
        Whether it can be part of an interleaved run.
    by_name : bool
        Taken only where it is asked for, by its name in place of a mode.
    few : bool
        Takes over from another one in iterations with few active vertices.
    one_phase : bool
        Vertices gather, and send again, at once: an iteration has one barrier.
    idle : function, optional
        What it moves for a partition that does not send so, where others do.
    parameters : tuple of int
        Of strategies with virtual warps: their lanes, and the vertices that one takes at once. They are taken
        where the name stands alone; others follow it: ``vertex-push-warp:8-32``.
    """

    name: str
    mode: int
    target: str
    kernels: str
    layouts: tuple[str, ...]
    bytes: Callable[..., float]
    about: str
    all_active: bool | None = None
    auto: bool = True
    interleaves: bool = True
    by_name: bool = False
    few: bool = False
    one_phase: bool = False
    idle: Callable[..., float] | None = None
    parameters: tuple[int, ...] = ()

    def fits(self, asked: str, all_active: bool, needs: bool, interleave: bool) -> bool:
        """Whether a run may choose it.

        ``asked`` is the mode; ``needs``: the program has a ``needsFunc``.

        Examples
        --------
        >>> [s.name for s in STRATEGIES if s.target == "cpu" and s.fits("auto", False, True, False)]
        ['bins-sparse', 'local', 'bins-dense', 'pull']
        >>> [s.name for s in STRATEGIES if s.target == "cpu" and s.fits("auto", True, False, False)]
        ['bins-dense', 'pull-blocks']
        """
        if self.all_active not in (None, all_active) or (interleave and not self.interleaves):
            return False
        asked = name_of(asked)
        if self.by_name:
            return asked == self.name
        if asked not in ("auto", TREE):
            return asked == MODES[self.mode].name
        if self.mode == SC and all_active and asked == "auto":
            return False  # with everything active eq. (1) says partition-centric
        return self.auto and (self.mode != PULL or all_active or needs)


MODES = (
    Mode(SC, "sc", "source-centric: active vertices send along their own edges"),
    Mode(PC, "pc", "partition-centric: a partition sends all its messages, in the order of the bins"),
    Mode(PULL, "pull", "vertices that need messages ask along their in-edges"),
)
"""In the order of their codes."""

STRATEGIES = (
    Strategy("bins-sparse", SC, "cpu", "cpu/scatter.py", ("csr", "bins"), sc_bytes,
             "values and ids of active vertices into bins"),
    Strategy("local", SC, "cpu", "cpu/scatter_inside.py", ("csr", "bins"), sc_bytes,
             "edges inside the partition at once, the others into bins", all_active=False, interleaves=False),
    Strategy("bins-dense", PC, "cpu", "cpu/scatter.py", ("bins",), pc_bytes,
             "one value per message into bins, ids lie there already"),
    Strategy("pull", PULL, "cpu", "cpu/pull.py", ("csc",), pull_bytes,
             "in-edges of needy vertices against the bits of the frontier",
             all_active=False, interleaves=False),
    Strategy("pull-blocks", PULL, "cpu", "cpu/pull_all.py", ("edge blocks",), pull_all_bytes,
             "all in-edges in blocks that read values where they lie", all_active=True),
    Strategy("push", SC, "gpu", "gpu/kernels/push.cuh", ("csr",), push_bytes,
             "warps walk the edges of listed vertices, messages go straight to their vertex"),
    Strategy("push-lines", SC, "gpu", "gpu/kernels/push_lines.cuh", ("csr",), push_bytes,
             "the same where edges are streamed: whole lines of 128 bytes, several on their way"),
    Strategy("levels", SC, "gpu", "gpu/kernels/levels.cuh", ("csr",), levels_bytes,
             "in place of push while few vertices are active: one barrier an iteration",
             all_active=False, few=True),
    Strategy("edge-list", SC, "gpu", "gpu/kernels/edge_list.cuh", ("edges",), edge_list_bytes,
             "a thread per edge of the whole graph", by_name=True),
    Strategy("struct-edge-list", SC, "gpu", "gpu/kernels/struct_edge_list.cuh", ("edge structs",),
             struct_edge_list_bytes, "the same, source and destination side by side", by_name=True),
    Strategy("reverse-edge-list", SC, "gpu", "gpu/kernels/reverse_edge_list.cuh", ("reverse edges",),
             reverse_edge_list_bytes, "a thread per edge, in the order of the destinations", by_name=True),
    Strategy("reverse-struct-edge-list", SC, "gpu", "gpu/kernels/reverse_struct_edge_list.cuh",
             ("reverse edge structs",), reverse_struct_edge_list_bytes,
             "the same, source and destination side by side", by_name=True),
    Strategy("vertex-push", SC, "gpu", "gpu/kernels/vertex_push.cuh", ("csr",), push_bytes,
             "a thread per listed vertex walks its edges", by_name=True),
    Strategy("vertex-push-warp", SC, "gpu", "gpu/kernels/vertex_push_warp.cuh", ("csr",), push_bytes,
             "virtual warps walk the edges of listed vertices", by_name=True, parameters=(16, 64)),
    Strategy("bins", PC, "gpu", "gpu/kernels/bins.cuh", ("bins",), bins_bytes,
             "values into bins, columns gathered by compare-and-swap"),
    Strategy("bins-combined", PC, "gpu", "gpu/kernels/combined.cuh", ("reversed bins",), combined_bytes,
             "messages of a run combined at their source, folded in shared memory", idle=combined_idle_bytes),
    Strategy("bins-folded", PC, "gpu", "gpu/kernels/folded.cuh", ("reversed bins",), folded_bytes,
             "the same where edges are streamed: each run folded at its vertex, nothing waits"),
    Strategy("owner", PULL, "gpu", "gpu/kernels/owner.cuh", ("csc",), owner_bytes,
             "one owner per vertex walks its in-edges in order", auto=False),
    Strategy("rows", PULL, "gpu", "gpu/kernels/rows.cuh", ("csc", "long rows"), rows_bytes,
             "owners of several vertices each combine their in-edges, and send again at once",
             all_active=True, one_phase=True),
    Strategy("bottom-up", PULL, "gpu", "gpu/kernels/bottom_up.cuh", ("csc",), bottom_up_bytes,
             "vertices that want messages walk in-edges against the bits of the frontier",
             all_active=False, interleaves=False),
    Strategy("vertex-pull", PULL, "gpu", "gpu/kernels/vertex_pull.cuh", ("csc",), owner_bytes,
             "a thread per vertex walks its in-edges in order", by_name=True),
    Strategy("vertex-pull-warp", PULL, "gpu", "gpu/kernels/vertex_pull_warp.cuh", ("csc",), owner_bytes,
             "virtual warps walk the in-edges of all vertices", by_name=True, parameters=(16, 64)),
    Strategy("hyb", PULL, "gpu", "gpu/kernels/hyb.cuh", ("hyb",), hyb_bytes,
             "a thread per row of ELL, warps fold what lies behind it in COO", by_name=True),
)  # fmt: skip

COLUMNS = tuple(mode.column for mode in MODES)
"""Columns of the trace, in the order of the codes."""


def described() -> str:
    """Every mode and strategy, a line each: what it does and which layouts it reads.

    Examples
    --------
    >>> print(described().splitlines()[-2])
    * pull gpu hyb                      a thread per row of ELL, warps fold what lies behind it in COO (hyb)
    """
    lines = ["auto: what the model chooses from those that are not taken by their names alone"]
    lines += ["tree: what a decision tree chooses for each iteration; tree:FILE: that of a file"]
    lines += [f"{mode.name}: {mode.about}" for mode in MODES]
    for each in STRATEGIES:
        name = each.name + ":" * bool(each.parameters) + "-".join(map(str, each.parameters))
        how = f"{each.about} ({', '.join(each.layouts)})"
        lines.append(
            f"{'*' if each.by_name else ' '} {MODES[each.mode].name:4} {each.target} {name:24} {how}"
        )
    return "\n".join(
        [*lines, "* is taken where it is asked for by this name, the others as program and graph are"]
    )
