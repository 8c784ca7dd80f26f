"""Between GPUs of several ranks: bytes of device memory to each other rank, and a row of counts to all.

`NcclLink` where every rank has a device of its own: nothing passes through the host. NCCL refuses two ranks
on one device; there, and where it is not installed, `HostLink` copies to the host and sends with MPI.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np

from gpop.gpu.device import cupy, device_identity
from gpop.ranks.world import World


class Link(Protocol):
    """What the exchange needs of it; arrays are on the device, offsets and sizes in bytes, by rank."""

    name: str

    def rows(self, own: Any, everyones: Any) -> np.ndarray:
        """The rows of int64 of all ranks, by rank; ``everyones`` is room for them."""

    def exchange(self, out: Any, send: np.ndarray, into: Any, receive: np.ndarray) -> None:
        """Send pieces of ``out`` and receive others in ``into``: where each begins and its size, by rank."""


def local_device(world: World) -> int:
    """The device of this rank: by its number among those of its machine, again from 0 where they are more."""
    return world.local_rank % cupy().cuda.runtime.getDeviceCount()


def link_of(world: World) -> Link:
    """The fastest way between the devices that are current; all ranks ask for it together."""
    able = world.everyones((world.machine, device_identity(), nccl() is not None))
    apart = len({each[:2] for each in able}) == world.size
    if apart and all(has for _, _, has in able):
        return NcclLink(world)
    return HostLink(world)


def nccl() -> Any:
    """CuPy's module of that name; None where there is no NCCL."""
    try:
        module = import_module("cupy.cuda.nccl")
    except ImportError:
        return None
    return module if module.available else None


class NcclLink:
    """By NCCL, on the current stream; connections are made once for a device."""

    name = "NCCL"

    def __init__(self, world: World) -> None:
        self.nccl = nccl()
        device = cupy().cuda.Device().id
        if device not in _connected:
            identity = world.first_ones(None if world.rank else self.nccl.get_unique_id())
            _connected[device] = self.nccl.NcclCommunicator(world.size, identity, world.rank)
        self.connected = _connected[device]

    def rows(self, own: Any, everyones: Any) -> np.ndarray:
        """See `Link`; waits for what is on the stream."""
        pointers = own.data.ptr, everyones.data.ptr
        self.connected.allGather(*pointers, own.size, self.nccl.NCCL_INT64, _stream())
        return everyones.get()

    def exchange(self, out: Any, send: np.ndarray, into: Any, receive: np.ndarray) -> None:
        """See `Link`; returns at once."""
        stream = _stream()
        self.nccl.groupStart()
        for call, buffer, pieces in (
            (self.connected.send, out, send),
            (self.connected.recv, into, receive),
        ):
            for rank, (begin, nbytes) in enumerate(pieces.tolist()):
                if nbytes:
                    call(buffer.data.ptr + begin, nbytes, self.nccl.NCCL_UINT8, rank, stream)
        self.nccl.groupEnd()


_connected: dict[int, Any] = {}


def _stream() -> int:
    return cupy().cuda.get_current_stream().ptr


class HostLink:
    """By MPI, through the host."""

    name = "host"

    def __init__(self, world: World) -> None:
        self.world = world

    def rows(self, own: Any, everyones: Any) -> np.ndarray:
        """See `Link`."""
        return self.world.joined(own.get()).reshape(-1, own.size)

    def exchange(self, out: Any, send: np.ndarray, into: Any, receive: np.ndarray) -> None:
        """See `Link`."""
        pieces = [out[begin : begin + nbytes].get() for begin, nbytes in send.tolist()]
        come, _ = self.world.dealt(np.concatenate(pieces), send[:, 1])
        taken = 0
        for begin, nbytes in receive.tolist():
            into[begin : begin + nbytes].set(come[taken : taken + nbytes])
            taken += nbytes
