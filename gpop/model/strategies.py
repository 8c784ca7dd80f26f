"""The strategies: every way in which messages travel, one record each; modes are what a user asks for.

A *mode* says who starts a message: its active source along its own edges (``sc``), a whole partition for
all its vertices (``pc``), or the vertex that wants it (``pull``). A *strategy* is one way to do that, on one
target, over some layouts: a file of kernels and a record here. Values of ``--mode``, the columns of a trace,
what `gpop.compare` offers and the tables of modes follow from the records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from gpop.model.bytes import pc_bytes, pull_all_bytes, pull_bytes, sc_bytes
from gpop.model.gpu_bytes import bins_bytes, combined_bytes, edge_list_bytes, owner_bytes, push_bytes

SC, PC, PULL = 0, 1, 2
"""Codes of the modes, in the engines' arrays and in their choices."""


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
        if self.by_name:
            return asked == self.name
        if asked != "auto":
            return asked == MODES[self.mode].name
        if self.mode == SC and all_active:
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
    Strategy("edge-list", SC, "gpu", "gpu/kernels/edge_list.cuh", ("edges",), edge_list_bytes,
             "a thread per edge of the whole graph", by_name=True),
    Strategy("bins", PC, "gpu", "gpu/kernels/bins.cuh", ("bins",), bins_bytes,
             "values into bins, columns gathered by compare-and-swap"),
    Strategy("bins-combined", PC, "gpu", "gpu/kernels/combined.cuh", ("reversed bins",), combined_bytes,
             "messages of a run combined at their source, folded in shared memory"),
    Strategy("owner", PULL, "gpu", "gpu/kernels/owner.cuh", ("csc",), owner_bytes,
             "one owner per vertex walks its in-edges in order", auto=False),
)  # fmt: skip

_BY_NAME = {strategy.name: strategy for strategy in STRATEGIES if strategy.by_name}

ASKED = ("auto", *(mode.name for mode in MODES), *_BY_NAME)
"""Values of ``mode=`` and ``--mode``."""

COLUMNS = tuple(mode.column for mode in MODES)
"""Columns of the trace, in the order of the codes."""


@cache
def asked_on(target: str) -> tuple[str, ...]:
    """Those that a target has.

    Examples
    --------
    >>> asked_on("cpu")
    ('auto', 'sc', 'pc', 'pull')
    """
    return tuple(asked for asked in ASKED if asked not in _BY_NAME or _BY_NAME[asked].target == target)


def code_of(asked: str) -> int:
    """Code of a mode that is asked for; `gpop.model.choosers.AUTO` for auto.

    Examples
    --------
    >>> [code_of(asked) for asked in asked_on("cpu")]
    [-1, 0, 1, 2]
    """
    return _BY_NAME[asked].mode if asked in _BY_NAME else ASKED.index(asked) - 1
