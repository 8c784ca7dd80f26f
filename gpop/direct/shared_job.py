"""Work on a named tuple that threads share: a function called by its address (`gpop.common.standby`)."""

from __future__ import annotations

from collections.abc import Callable

from gpop.common.by_reference import ReferenceKind, opener
from gpop.common.cached import source_key
from gpop.common.callback import callback
from gpop.common.inlined import KERNEL
from gpop.program.published import publish

_entries: dict[tuple[str, str], int] = {}


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
