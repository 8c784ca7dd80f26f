"""Memory: what is left on this machine, the check before anything large is allocated, and arrays that go
back to the system as soon as they are not needed.

Available is what the operating system reports, or what the control group (container) still
allows when that is less.

Freed arrays of some megabytes stay with the process, because the C library keeps them for the next
allocation. Where many are alive and let go one after the other (pieces of a file, sort keys) they are
made with `own_pages`, so that the peak is what is in use. Their pages are small ones, unlike those of
large NumPy arrays: a part that is written is a part that is resident.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path

import numpy as np

from gpop.common import private_pages, spill, used_pages
from gpop.common.errors import NotEnoughMemory, UsageError

_CGROUPS = (
    # (limit, usage) of version 2 and version 1 as a container sees its own group
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


ASKED_FROM = 1 << 24
"""Bytes from which a check asks the system: that takes .1 to .4 ms, and the first touch of so many longer."""


def _cgroup_available() -> int | None:
    """Bytes that the control group still allows, None when it sets no limit."""
    for limit, usage in _CGROUPS:
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(usage).read_text()))
        except (OSError, ValueError):  # no such version here, or the limit reads "max"
            continue
    return None


def _environment_allows() -> int | None:
    """Bytes of the environment's GPOP_MEMORY, None when it is not set."""
    text = os.environ.get("GPOP_MEMORY", "")
    limit = bytes_of(text)
    if text and limit is None:
        raise UsageError(f"GPOP_MEMORY={text!r}: expected bytes, such as 4000000000 or 4GB")
    return limit


def available_bytes() -> int:
    """Bytes that can be allocated now without swapping; at most the environment's GPOP_MEMORY, if set."""
    import psutil

    available = psutil.virtual_memory().available
    limits = _cgroup_available(), _environment_allows()
    return min([available, *(limit for limit in limits if limit is not None)])


def bytes_of(text: str) -> int | None:
    """Bytes that a size such as ``2GB`` stands for; None where it is none.

    >>> bytes_of("1.5 GB"), bytes_of("300m"), bytes_of("4096"), bytes_of("much")
    (1500000000, 300000000, 4096, None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)B?", text.strip().upper())
    return int(float(found[1]) * 1000 ** " KMGT".index(found[2] or " ")) if found else None


def readable(nbytes: int) -> str:
    """``1.5 GB`` style size.

    >>> readable(1_500_000_000)
    '1.5 GB'
    """
    size = float(nbytes)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def require_memory(nbytes: int, what: str) -> None:
    """Raise NotEnoughMemory when ``what`` would take more than is available.

    While arrays lie in files (`gpop.common.spill`) nothing is refused: who opened that has counted.
    """
    if nbytes < ASKED_FROM or spill.active():
        return
    available = available_bytes()
    if nbytes > available:
        used_pages.let_go()
        private_pages.let_go()
        available = available_bytes()
    if nbytes > available:
        raise NotEnoughMemory(f"{what} needs {readable(nbytes)}, but only {readable(available)} is available")


def own_pages(count: int, dtype: np.typing.DTypeLike) -> np.ndarray:
    """Array of zeros in a mapping of its own, which the system gets back when the array is dropped.

    While a spill is open, the mapping is one of a file.

    >>> own_pages(3, np.uint16).tolist()
    [0, 0, 0]
    """
    if not count:
        return np.empty(0, dtype)
    room = spill.active()
    if room is not None:
        return room.array(count, dtype)
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype)


def own_copy(array: np.ndarray, dtype: np.typing.DTypeLike = None) -> np.ndarray:
    """A copy in a mapping of its own."""
    copy = own_pages(len(array), dtype or array.dtype)
    copy[:] = array
    spill.settled(copy)
    return copy


def give_back(array: np.ndarray, first: int, last: int) -> None:
    """Let the pages go that lie within ``array[first:last]``, which must not be read any more.

    ``array`` is one of `own_pages`.
    """
    begin = -(-first * array.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
    end = last * array.itemsize // mmap.PAGESIZE * mmap.PAGESIZE
    if begin < end:
        array.base.obj.madvise(mmap.MADV_DONTNEED, begin, end - begin)
