"""The compiled loops: one for each kind of program, whatever its functions, graph and layout.

Much of the loop (loop.py) is about choosing and sharing what an iteration touches. Where all vertices are
active there is nothing to choose, and only programs with priorities have buckets. To compile all of it takes
twice as long as what a PageRank needs, and a first run waits for it. What is exchanged with other ranks is a
tenth of it. So there are six, and a run has the one that it needs compiled, by another process, before its
program is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpop.common import ahead
from gpop.common.cached import entry_of, keep, source_key
from gpop.common.foreign import call_c
from gpop.common.inlined import KERNEL, inline
from gpop.common.kernel_folder import can_keep
from gpop.common.kinds import BOOL, FLOAT64, INT64, ArrayKind, StarKind
from gpop.cpu.control import open_control
from gpop.cpu.loop import make_loop
from gpop.cpu.work import entry_for


@inline
def call_work(phase, iteration, w, threads, size, sharers, chunk, entry, pull_entry, job):
    """Do a part of a phase of the program whose work is compiled at these addresses."""
    call_c(entry_for(phase, entry, pull_entry), (phase, iteration, w, threads, size, sharers, chunk, job))


@inline
def call_fill(entry, w, sharers, control):
    """Fill this thread's part of the fields; what does it is compiled at this address."""
    call_c(entry, (w, sharers, control))


TYPES = (
    *(INT64,) * 9, FLOAT64, BOOL, ArrayKind("int64"), ArrayKind("float64", 2), ArrayKind("uint64"),
    ArrayKind("uint64", 2),
    INT64, StarKind("int64", 3),
)  # fmt: skip
"""Kinds of its arguments, which are always the same; ``*job`` is one."""

_ALONE = {"all_active": (True, False), "frontier": (False, False), "priorities": (False, True)}

KINDS = {f"{kind}{among}": (*has, among != "") for among in ("", "_ranked") for kind, has in _ALONE.items()}
"""Programs of which kind a loop is for: whether all vertices are active, whether they have priorities, and
whether there are other ranks."""

LOOPS = {
    kind: keep(
        make_loop(open_control, call_work, call_fill, *has), f"loop_{kind}_{source_key(__file__)}", **KERNEL
    )
    for kind, has in KINDS.items()
}
"""``job`` of them: the addresses of a program's entries, see `gpop.cpu.work.entry_for`, and of its `Job`."""


def kind_of(all_active: bool, prioritised: bool, ranked: bool = False) -> str:
    """The kind of a program.

    Examples
    --------
    >>> kind_of(True, False), kind_of(False, True, ranked=True)
    ('all_active', 'priorities_ranked')
    """
    kind = "all_active" if all_active else "priorities" if prioritised else "frontier"
    return f"{kind}_ranked" if ranked else kind


def begin(kind: str) -> None:
    """Have another process compile the loop, if it is not kept: to compile the program takes as long."""
    if can_keep(__file__):  # else it could not leave it anywhere
        ahead.begin(__name__, kind, is_kept)


def ask(kind: str, kernel: Any, *kinds: Any) -> None:
    """Have it compile another kernel, too, that the run will need."""
    ahead.ask(__name__, kind, kernel, *kinds)


def help(kind: str) -> None:
    """Compile here what it was asked for and has not begun."""
    ahead.help(__name__, kind)


def is_under_way(kind: str) -> bool:
    """Whether it is about to compile the loop still, so that this one would only wait."""
    return ahead.is_under_way(__name__, kind)


def ready(kind: str) -> Callable[..., bool]:
    """The loop; where another process is at it, it is waited for."""
    ahead.wait(__name__, kind)
    return entry(kind)


def entry(kind: str) -> Callable[..., bool]:
    """The loop, compiled or loaded."""
    return entry_of(LOOPS[kind], *TYPES)


def is_kept(kind: str) -> bool:
    """Whether it need not be compiled."""
    return LOOPS[kind].is_kept(TYPES)
