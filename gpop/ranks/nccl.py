"""NCCL by its C interface: what the exchange between GPUs needs of it, and nothing else.

The library is the one that the loader finds, or that of the wheel ``nvidia-nccl-cu13`` (or ``-cu12``), which
CuPy's own wheels do not bring. Two ranks on one device are refused by NCCL itself, after they have waited for
each other: who asks sees to it that there are none (`gpop.ranks.link`).

Everything is put on a stream and returns at once; sizes and pointers are in bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from gpop.common.errors import GpopError

ID_BYTES = 128
INT8, INT64 = 0, 4
"""Types of elements, as ``nccl.h`` numbers them."""


class UniqueId(ctypes.Structure):
    """What rank 0 makes and all need to find each other; passed by value."""

    _fields_ = [("internal", ctypes.c_byte * ID_BYTES)]


@cache
def library() -> ctypes.CDLL | None:
    """The library; None where there is none."""
    places = ["libnccl.so.2"]
    wheel = find_spec("nvidia")
    for folder in wheel.submodule_search_locations if wheel else ():
        places.append(str(Path(folder) / "nccl" / "lib" / "libnccl.so.2"))
    for place in places:
        try:
            found = ctypes.CDLL(place)
        except OSError:
            continue
        found.ncclGetErrorString.restype = ctypes.c_char_p
        return found
    return None


def _check(code: int) -> None:
    if code:
        raise GpopError(f"NCCL: {library().ncclGetErrorString(code).decode()}")


def unique_id() -> bytes:
    """For `Communicator`: made by one rank, given to all."""
    made = UniqueId()
    _check(library().ncclGetUniqueId(ctypes.byref(made)))
    return bytes(made)


@contextmanager
def grouped() -> Iterator[None]:
    """Sends and receives that belong together: none waits for another one."""
    _check(library().ncclGroupStart())
    yield
    _check(library().ncclGroupEnd())


class Communicator:
    """All ranks of a job, each with the device that is current; all make it together."""

    def __init__(self, size: int, identity: bytes, rank: int) -> None:
        self.handle = ctypes.c_void_p()
        given = UniqueId.from_buffer_copy(identity)
        _check(
            library().ncclCommInitRank(
                ctypes.byref(self.handle), ctypes.c_int(size), given, ctypes.c_int(rank)
            )
        )

    def send(self, address: int, nbytes: int, rank: int, stream: int) -> None:
        """Send so many bytes of device memory to a rank."""
        self._between("ncclSend", address, nbytes, rank, stream)

    def receive(self, address: int, nbytes: int, rank: int, stream: int) -> None:
        """Receive as many as are sent."""
        self._between("ncclRecv", address, nbytes, rank, stream)

    def _between(self, name: str, address: int, nbytes: int, rank: int, stream: int) -> None:
        pointer, size = ctypes.c_void_p(address), ctypes.c_size_t(nbytes)
        call = getattr(library(), name)
        _check(call(pointer, size, INT8, ctypes.c_int(rank), self.handle, ctypes.c_void_p(stream)))

    def gather_all(self, own: int, everyones: int, words: int, stream: int) -> None:
        """``words`` int64 of each rank, by rank, on all of them."""
        pointers = ctypes.c_void_p(own), ctypes.c_void_p(everyones)
        size = ctypes.c_size_t(words)
        _check(library().ncclAllGather(*pointers, size, INT64, self.handle, ctypes.c_void_p(stream)))
