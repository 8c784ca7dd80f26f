"""The ranks of a job: whether this process is one of several, and what all of them do together.

The one place that imports mpi4py, and only where a run asks for it: `import gpop` and a run alone never do.
Whether there are other ranks is known from the environment that a launcher leaves (``mpiexec``, ``srun``).

An error that one rank alone meets would leave the others waiting for it. So an exception that nobody catches
ends the whole job: one line, from rank 0 if it has met the same, and ``MPI_Abort``.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gpop.common.command import fail
from gpop.common.errors import GpopError, UsageError
from gpop.common.launched import launched_ranks
from gpop.common.parallel import worker_count
from gpop.ranks.cores import allowed_here
from gpop.ranks.killed import PASSED_ON, Word, gone, say_when_killed
from gpop.ranks.leaving import say_when_left

TRANSPORTS = ("auto", "alone", "mpi")

RESTS = 1e-3
"""Seconds between two looks at whether the others have come."""

LATER = 0.5
"""Seconds that other ranks leave to rank 0 to tell of an error that it has met as well."""


def world_of(transport: str) -> World | None:
    """The other ranks of a run with this ``transport``; None for a run alone.

    Raises
    ------
    UsageError
        For an unknown transport, or where MPI is asked for and cannot be loaded.

    Examples
    --------
    >>> world_of("auto") is world_of("alone") is None
    True
    """
    if transport == "auto" and launched_ranks() == 1:  # of most calls, which ask more than once
        return None
    if transport not in TRANSPORTS:
        raise UsageError(f"transport {transport!r}: expected one of {', '.join(TRANSPORTS)}")
    if transport == "alone":
        return None
    return _world()


def end_all(message: str, code: int) -> int:
    """End all ranks after an error of a command: one line, from rank 0 where all have met the same."""
    world = _world()
    if world.rank:
        time.sleep(LATER)
    world.abort(message, code)
    return code


@cache
def _world() -> World:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:  # mpi4py without an MPI library raises the latter
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"transport: {launched_ranks()} ranks need mpi4py and an MPI library ({reason}): expected "
            "pip install 'gpop[mpi]', or transport='alone'"
        ) from None
    return World(MPI)


class World:
    """All ranks of the job.

    Attributes
    ----------
    rank, size : int
        The number of this rank, and how many there are.
    local_size, local_rank : int
        How many of them share this machine, and the number of this one among those.
    machine : int
        The same for all that share one: the lowest rank there.
    allowed : list of tuple of int
        The cores that each of those that share this machine may run on.
    """

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.comm = mpi.COMM_WORLD.Dup()
        self.comm.Set_errhandler(mpi.ERRORS_ARE_FATAL)
        self.rank, self.size = self.comm.rank, self.comm.size
        local = self.comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_size, self.neighbours = local.size, local.allgather((os.getpid(), self.rank))
        self.local_rank, self.machine = local.rank, min(rank for _, rank in self.neighbours)
        self.allowed = local.allgather(allowed_here())
        self.word = self._shared_word(local)
        local.Free()
        self.progress: np.ndarray | None = None  # of the run, for who is killed
        self.checkpoint: str | None = None
        if self.size > 1:
            self._end_together()

    # --- what all ranks call ----------------------------------------------------------------------

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.comm.Barrier()

    def rest(self) -> None:
        """The same for what takes seconds: MPI's own waiting takes a core from those that work."""
        waited = self.comm.Ibarrier()
        while not waited.Test():
            time.sleep(RESTS)

    def first_alone(self, work: Callable[[], object]) -> None:
        """Do a work on rank 0 and then on the others: what they find compiled on disk they do not compile."""
        if self.rank:
            self.rest()
        work()
        if not self.rank:
            self.rest()

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum over all ranks, on each of them."""
        total = np.empty_like(array)
        self.comm.Allreduce(np.ascontiguousarray(array), total, self.mpi.SUM)
        return total

    def most(self, array: np.ndarray) -> np.ndarray:
        """The largest of all ranks, element by element, on each of them."""
        total = np.empty_like(array)
        self.comm.Allreduce(np.ascontiguousarray(array), total, self.mpi.MAX)
        return total

    def everyones(self, value: Any) -> list[Any]:
        """What each rank gives, by rank, on each of them; small objects."""
        return self.comm.allgather(value)

    def first_ones(self, value: Any) -> Any:
        """What rank 0 gives."""
        return self.comm.bcast(value)

    def joined(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all ranks, one after the other, on each of them."""
        array = np.ascontiguousarray(array)
        sizes = np.array(self.comm.allgather(array.nbytes))
        total = np.empty(int(sizes.sum()) // array.itemsize, array.dtype)
        place = [total.view(np.uint8), (sizes, _starts(sizes)), self.mpi.BYTE]
        self.comm.Allgatherv(self._bytes(array), place)
        return total

    def fill(self, array: np.ndarray, bounds: np.ndarray) -> None:
        """Make an array whole of which rank r has ``bounds[r]:bounds[r + 1]``."""
        sizes = np.diff(bounds) * array.itemsize
        here = array[bounds[self.rank] : bounds[self.rank + 1]].copy()
        place = [array.view(np.uint8), (sizes, np.asarray(bounds[:-1]) * array.itemsize), self.mpi.BYTE]
        self.comm.Allgatherv(self._bytes(here), place)

    def dealt(self, array: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Deal out an array: the first ``counts[0]`` elements to rank 0, and so on.

        Returns what has come, by rank, and how many from each.
        """
        array = np.ascontiguousarray(array)
        counts = np.ascontiguousarray(counts, np.int64)
        come = np.empty_like(counts)
        self.comm.Alltoall(counts, come)
        total = np.empty(int(come.sum()), array.dtype)
        give, take = counts * array.itemsize, come * array.itemsize
        self.comm.Alltoallv(
            [array.view(np.uint8), (give, _starts(give)), self.mpi.BYTE],
            [total.view(np.uint8), (take, _starts(take)), self.mpi.BYTE],
        )
        return total, come

    def _bytes(self, array: np.ndarray) -> list[Any]:
        return [array.view(np.uint8), self.mpi.BYTE]

    # --- what compiled code calls -----------------------------------------------------------------

    def calls(self) -> dict[str, int]:
        """Addresses of the functions, and the handles, that the exchange needs (gpop/cpu/exchange.py)."""
        library = _loaded_library()
        address = {
            name: ctypes.cast(getattr(library, f"MPI_{name}"), ctypes.c_void_p).value
            for name in ("Isend", "Irecv", "Testall")
        }
        return address | {
            "comm": _word(self.mpi._handleof(self.comm)),
            "byte": _word(self.mpi._handleof(self.mpi.BYTE)),
            "request_bytes": self.mpi._sizeof(self.mpi.Request),
            "status_bytes": self.mpi._sizeof(self.mpi.Status),
        }

    # --- the end ----------------------------------------------------------------------------------

    def _end_together(self) -> None:
        """An exception that nobody catches, here or elsewhere, ends all ranks, ``sys.exit`` among them."""
        before = sys.excepthook

        def hook(kind: type, error: BaseException, trace: Any) -> None:
            if self.rank:
                time.sleep(LATER)
            if issubclass(kind, GpopError):
                self.abort(str(error), 2)
            before(kind, error, trace)
            self.abort(f"{kind.__name__}: {error}", 1)

        def left(message: str, code: int) -> None:
            time.sleep(LATER)  # others may be about to leave as well
            self.abort(message, code)

        sys.excepthook = hook
        say_when_left(left)
        say_when_killed(self.word, self._story)

    def _shared_word(self, local: Any) -> Word:
        path = None
        if local.rank == 0:
            handle, path = tempfile.mkstemp(prefix="gpop-")
            os.close(handle)
        path = local.bcast(path)
        word = Word(path)
        local.Barrier()
        if local.rank == 0:
            os.unlink(path)
        return word

    def _story(self) -> str:
        """What to say when the launcher ends this rank because another one is no more."""
        dead = gone([process for process, _ in self.neighbours])
        who = ", ".join(f"rank {self.neighbours[place][1]}" for place in dead) or "a rank"
        far = "" if self.progress is None else f", in iteration {int(self.progress[0])}"
        again = "start it again"
        if self.checkpoint is not None:
            again = f"the same command goes on from the checkpoint in {self.checkpoint}"
        have = "have" if len(dead) > 1 else "has"  # the launcher may have ended others meanwhile
        return f"{who} of {self.size} {have} ended{far}: {again}"

    def abort(self, message: str, code: int) -> None:
        """Say in one line what has happened to this rank, and end all of them."""
        sys.stdout.flush()
        if self.word.is_mine():
            fail(f"rank {self.rank} of {self.size}: {message}", code)
            time.sleep(PASSED_ON)
        self.comm.Abort(code)


def threads_of(threads: int | None, world: World) -> int:
    """Threads of a rank: those that were asked for, or its share of the machine's cores.

    A launcher that gives each rank cores of its own has shared them out already.
    """
    if threads is not None:
        return threads
    cores = worker_count()
    return cores if cores < (os.cpu_count() or 1) else max(1, cores // world.local_size)


def _word(handle: int) -> int:
    """A handle as a signed word: Open MPI's are pointers, those of MPICH ints that may be negative.

    Examples
    --------
    >>> _word(2**64 - 2), _word(7)
    (-2, 7)
    """
    return (handle + 2**63) % 2**64 - 2**63


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.cumsum(sizes) - sizes


def _loaded_library() -> ctypes.CDLL:
    """The MPI library that mpi4py has loaded, found among the files that are mapped."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "/libmpi" in line}
    for path in sorted(paths, key=len):
        library = ctypes.CDLL(path)
        if hasattr(library, "MPI_Isend"):
            return library
    raise UsageError("transport: the MPI library that mpi4py has loaded is not found in /proc/self/maps")
