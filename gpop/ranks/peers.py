"""The exchange between GPUs that reach each other's memory: in the loop, on the device.

What lies in the blocks of memory is in gpop/gpu/kernels/peers.cuh, the loop in peer_loop.cuh. The host
launches many rounds of exchange and iteration at once and reads what they have found behind the last one: it
waits for the device once in all of them, and for no other rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange_wire
from gpop.gpu.device import cupy, pinned
from gpop.gpu.launch import Launch
from gpop.gpu.prepared import Prepared
from gpop.gpu.structs import TRACE_ROWS, argument
from gpop.ranks.gpu_wire import GpuWire, rooms_of, starts
from gpop.ranks.link import link_of
from gpop.ranks.part import Part
from gpop.ranks.world import World

ALIGNED = 128
"""Bytes: what is written by one rank shares no line of memory with what another one writes."""

WIRE = np.dtype(
    [
        (name, "u8")
        for name in (
            "blocks", "places", "rooms", "sends", "send_first", "bits", "word_first", "mirrors",
            "mirror_first", "in_first", "cursors", "message", "counted", "log", "range", "ranks", "rank", "m",
        )
    ]
)  # fmt: skip
"""``struct Wire``."""

COUNTED = -1
"""In place of the edges of a frontier: the device has counted them."""


def wire_of(
    part: Part, message: np.dtype, world: World, prioritised: bool, blocks: list[int], told: int | None
) -> GpuWire:
    """The fastest way between the devices that are current; all ranks ask for it together.

    ``blocks``: of all ranks, where they reach each other's (`gpop.ranks.peer_blocks`); ``told``: edges of all
    ranks, where only who is active has to be told.
    """
    given = part, message, world.rank, link_of(world), prioritised
    if not blocks:
        return GpuWire(*given)
    return PeerWire(*given, world, blocks) if told is None else ToldWire(*given, world, blocks, told)


class PeerWire(GpuWire):
    """`GpuWire`, whose messages are written where they are looked for."""

    name = "peer memory"

    def __init__(
        self, part: Part, message: np.dtype, rank: int, link: Any, prioritised: bool, world: World,
        blocks: list[int], m: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(part, message, rank, link, prioritised)
        module, ranks, runtime = cupy(), self.ranks, cupy().cuda.runtime
        in_first = self._in_first(part, message)
        world.barrier()  # nobody writes to them for a run before
        runtime.memset(blocks[rank], 0, _head_bytes(ranks))
        runtime.deviceSynchronize()
        begins = np.array(world.everyones(in_first.tolist()), np.int64)
        self.record = ranks * (ranks + 2) + 1
        self.log = module.zeros((TRACE_ROWS + 1) * self.record, np.int64)
        self.host_log = pinned(self.log.size, self.log.dtype)
        self.pointed = self._pointed() | {
            "blocks": module.asarray(np.array(blocks, np.uint64)),
            "places": module.asarray(begins[:, rank]),
            "rooms": module.asarray(begins[:, -1] - begins[:, 0]),
            "in_first": module.asarray(in_first),
            "counted": module.zeros((2, ranks + 2), np.int64),
            "log": self.log,
        }
        wire = np.zeros(1, WIRE)
        for name, array in self.pointed.items():
            wire[name] = array.data.ptr
        wire["ranks"], wire["rank"], wire["m"] = ranks, rank, m
        self.argument = argument(wire)
        self.round, self.count, self.edges = (np.ones(1, np.int64) for _ in range(3))
        self.sent: list[np.ndarray] = []
        self.waited = 0

    def _make_buffers(self) -> None:
        """Messages lie in the blocks."""

    def _pointed(self) -> dict[str, Any]:
        """Arrays of ``struct Wire`` that say what goes where."""
        module = cupy()
        return {
            "send_first": self.first,
            "word_first": module.asarray(self.word_first),
            "mirror_first": module.asarray(self.mirror_first),
            **{name: getattr(self, name) for name in ("sends", "bits", "mirrors", "cursors", "message")},
        }

    @staticmethod
    def _in_first(part: Part, message: np.dtype) -> np.ndarray:
        """Where each rank's messages of a round begin in a block, and their end."""
        return in_first(rooms_of(part.mirror_counts, message.itemsize))

    @classmethod
    def block_bytes(cls, part: Part, message: np.dtype) -> int:
        """Of a rank's block: counts and flags, then messages that come, of two rounds."""
        begins = cls._in_first(part, message)
        return int(2 * begins[-1] - begins[0])

    def lay_out(self, ready: Prepared, edges: int) -> None:
        """The launch of a run that begins with own vertices of so many ``edges``."""
        kernel = ready.module.get_function("gpop_rounds")
        kernel.max_dynamic_shared_size_bytes = ready.shared
        given = (self.argument, *ready.arguments, self.round, self.count, self.edges)
        self.launch_rounds = Launch(
            kernel, ready.blocks, ready.block_threads, given, ready.shared, together=True
        )
        self.edges[0] = edges

    def rounds(self, stream: int, count: int) -> None:
        """Launch so many rounds, or as many as there are; `found` once the stream is waited for."""
        self.count[0] = count
        self.launch_rounds(stream)
        runtime, nbytes = cupy().cuda.runtime, (count + 1) * self.record * self.log.itemsize
        here = self.host_log.ctypes.data
        runtime.memcpyAsync(here, self.log.data.ptr, nbytes, runtime.memcpyDeviceToHost, stream)
        self.round[0] += count + 1
        self.edges[0] = COUNTED

    def found(self, done: int) -> np.ndarray:
        """Rows of counts of the rounds that were done; `counts` are those behind the last one."""
        records = self.host_log[: (done + 1) * self.record].reshape(-1, self.record)
        log = records[:, :-1].reshape(-1, self.ranks, self.ranks + 2).copy()
        self.counts = log[done]
        self.sent.append(log[:done, self.rank, : self.ranks])
        self.waited += int(records[:done, -1].sum())
        return log[:done]

    def add_up(self) -> np.ndarray:
        """What was sent in all rounds; a search of six levels has no time for it in between."""
        for counts in np.concatenate([np.zeros((0, self.ranks), np.int64), *self.sent]):
            self.traffic[exchange_wire.BYTES] += self._bytes_of(counts)
            self.traffic[exchange_wire.VALUES] += counts.sum()
            self.traffic[exchange_wire.EXCHANGES] += 1
        self.traffic[exchange_wire.WAITED] += self.waited
        return self.traffic

    def _bytes_of(self, counts: np.ndarray) -> int:
        """What so many messages to each rank take."""
        return sum(form.nbytes for form in self._forms(counts, self.part.send_counts))


class ToldWire(PeerWire):
    """`PeerWire` where the bits of own active vertices are all that others must be told: as words, to all."""

    def _make_arrays(self, message: np.dtype) -> None:
        """Nobody looks at mirrors, nor at what they have said."""
        self.message = cupy().zeros(1, message)

    def _pointed(self) -> dict[str, Any]:
        return {"range": cupy().asarray(_words(self.part))}

    @staticmethod
    def _in_first(part: Part, message: np.dtype) -> np.ndarray:
        return in_first(4 * np.diff(_words(part)))

    def _bytes_of(self, counts: np.ndarray) -> int:
        return 4 * int(np.diff(_words(self.part))[self.rank]) * (self.ranks - 1)


def in_first(rooms: np.ndarray) -> np.ndarray:
    """Where what comes from each rank begins in a block, and its end."""
    return _head_bytes(rooms.size) + starts(np.array([_whole_lines(room) for room in rooms.tolist()]))


def _words(part: Part) -> np.ndarray:
    """With which word of the frontier's bits each rank's vertices begin, and the end."""
    return -(-part.bounds // 32)


def _head_bytes(ranks: int) -> int:
    return _whole_lines(8 * (2 * ranks * (ranks + 2) + 2 * ranks))


def _whole_lines(nbytes: int) -> int:
    return -(-nbytes // ALIGNED) * ALIGNED
