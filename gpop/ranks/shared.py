"""Memory that the ranks of a machine share: each writes to its own part, and all read it where it is.

A file without a name that one of them makes (`memfd_create`), and that the others open by way of /proc; it
is gone when nobody has it any more, however that ends. It may be larger than /dev/shm, and pages that nobody
writes to take no memory.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress

import numpy as np

from gpop.ranks.world import World

WORD = 8
"""Bytes."""


def shared_words(world: World, count: int) -> tuple[np.ndarray, dict[int, int]]:
    """Zeros that all ranks of this machine see; all ranks call it together.

    Parameters
    ----------
    world : World
    count : int
        Words of the part of this rank.

    Returns
    -------
    words : ndarray of int64
    begins : dict
        Where the part of each rank begins that shares them, this one included: that one alone where it is
        alone on its machine, or the ranks there do not see each other's files.
    """
    counts = world.everyones(count)
    here = sorted(rank for _, rank in world.neighbours)
    sizes = np.array([counts[rank] for rank in here])
    begins = dict(zip(here, (np.cumsum(sizes) - sizes).tolist(), strict=True))
    nbytes = max(int(sizes.sum()), 1) * WORD
    own = _made(nbytes) if world.rank == world.machine and len(here) > 1 else None
    made = world.everyones(None if own is None else (os.getpid(), own, _identity(own)))[world.machine]
    opened = own if own is not None else _opened(made)
    all_have = world.everyones(opened is not None)
    words = None
    if opened is not None:
        if all(all_have[rank] for rank in here):
            words = np.frombuffer(mmap.mmap(opened, nbytes), np.int64)
        os.close(opened)
    if words is None:
        return np.zeros(count, np.int64), {world.rank: 0}
    return words, begins


def _made(nbytes: int) -> int | None:
    with suppress(OSError, AttributeError):
        file = os.memfd_create("gpop", os.MFD_CLOEXEC)
        os.ftruncate(file, nbytes)
        return file
    return None


def _opened(made: tuple[int, int, tuple[int, int]] | None) -> int | None:
    """The file of another process; None where it is not seen, or another is seen in its place."""
    if made is None:
        return None
    process, number, identity = made
    with suppress(OSError):
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
        if _identity(file) == identity:
            return file
        os.close(file)
    return None


def _identity(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino
