"""Work on a named tuple that threads share: a function called by its address (`gpop.common.standby`)."""

from __future__ import annotations

from collections.abc import Callable

from gpop.common.by_reference import Reference, ReferenceKind, opener
from gpop.common.cached import source_key
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL
from gpop.common.standby import call_together
from gpop.program.published import publish

_entries: dict[tuple[str, str], int] = {}
_spare: dict[Callable, tuple[Reference, int]] = {}
"""The last table of each, and what is called with it; to make one takes as long as 10,000 edges."""


def entry(work: Callable, kind: ReferenceKind) -> int:
    """Address of ``work(number, job)``, a function of the library, for jobs of this kind."""
    asked = work.__qualname__, kind.name
    if asked not in _entries:
        file = work.__code__.co_filename
        name = f"{work.__name__.strip('_')}_{source_key(file)}_{kind.name}"
        _entries[asked] = callback(lambda: _make(work, kind), name, file, 3, **KERNEL)
    return _entries[asked]


def _make(work: Callable, kind: ReferenceKind) -> Callable:
    opened = opener(kind)

    def open_job(address):
        return opened(address)

    open_job = publish(open_job, f"open_{kind.name}")

    def enter(number, ticket, address):
        work(number, open_job(address))

    return enter


def share(work: Callable, job: tuple, threads: int) -> None:
    """Have so many threads do ``work(number, job)``; this one is 0, and comes to the end of all work."""
    table, function = _spare.pop(work, (None, 0))
    if table is None or not table.renew(job):
        table = Reference(job)
        function = entry(work, table.kind)
    call_together(function, table.address, threads)
    _spare[work] = table, function
