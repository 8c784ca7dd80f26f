"""The exchange between GPUs that reach each other's memory: rounds one behind the other on the device.

Kernels, and what lies in the blocks of memory, are in gpop/gpu/kernels/peers.cuh. A process makes its block
known to the others by a handle of CUDA (``cudaIpcGetMemHandle``), once for all runs that it is large enough
for. The host launches several rounds and reads what they have found behind the last one: it waits for the
device once in all of them, and for no other rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange_wire
from gpop.gpu import limits
from gpop.gpu.device import cupy, current_stream, device_identity
from gpop.gpu.structs import TRACE_ROWS, argument
from gpop.ranks.gpu_wire import GpuWire, rooms_of, starts
from gpop.ranks.link import link_of
from gpop.ranks.part import Part
from gpop.ranks.world import World

WIRE = np.dtype(
    [
        (name, "u8")
        for name in (
            "blocks", "places", "sends", "send_first", "bits", "word_first", "mirrors", "mirror_first",
            "in_first", "cursors", "message", "log", "arrived", "over", "ranks", "rank",
        )
    ]
)  # fmt: skip
"""``struct Wire``."""

_SAME = "sends", "bits", "mirrors", "cursors", "message", "log"

ALIGNED = 128
"""Bytes: what is written by one rank shares no line of memory with what another one writes."""

_blocks: dict[int, tuple[int, list[int]]] = {}


def wire_of(part: Part, message: np.dtype, world: World, prioritised: bool) -> GpuWire:
    """The fastest way between the devices that are current; all ranks ask for it together.

    A program with priorities asks the host for its next bucket, and so exchanges in steps of the host.
    """
    given = part, message, world.rank, link_of(world), prioritised
    able = world.everyones((world.machine, device_identity()))
    apart = len(set(able)) == world.size and len({machine for machine, _ in able}) == 1
    if apart and not prioritised:
        blocks = reach(world, PeerWire.block_bytes(part, message, world.size))
        if blocks:
            return PeerWire(*given, world, blocks)
    return GpuWire(*given)


def reach(world: World, nbytes: int) -> list[int]:
    """Addresses of blocks of all ranks, each of at least the bytes it asks for; none if CUDA refuses."""
    runtime, device = cupy().cuda.runtime, cupy().cuda.Device().id
    size, blocks = _blocks.pop(device, (0, []))
    if not any(world.everyones(nbytes > size)):
        _blocks[device] = size, blocks
        return blocks
    _leave(world, blocks, blocks[world.rank] if blocks else 0)
    cupy().get_default_memory_pool().free_all_blocks()  # what CuPy keeps for reuse is not for this
    own = runtime.malloc(nbytes)
    blocks = []
    for rank, handle in enumerate(world.everyones(runtime.ipcGetMemHandle(own))):
        try:
            blocks.append(own if rank == world.rank else runtime.ipcOpenMemHandle(handle))
        except runtime.CUDARuntimeError:
            break
    if not all(world.everyones(len(blocks) == world.size)):
        _leave(world, blocks, own)
        return []
    _blocks[device] = nbytes, blocks
    return blocks


def _leave(world: World, blocks: list[int], own: int) -> None:
    """Give back what was reached, by rank; the own block when nobody has it open any more."""
    for rank, each in enumerate(blocks):
        if rank != world.rank:
            cupy().cuda.runtime.ipcCloseMemHandle(each)
    world.barrier()
    if own:
        cupy().cuda.runtime.free(own)


class PeerWire(GpuWire):
    """`GpuWire`, whose messages are written where they are looked for."""

    def __init__(
        self, part: Part, message: np.dtype, rank: int, link: Any, prioritised: bool, world: World,
        blocks: list[int],
    ) -> None:  # fmt: skip
        super().__init__(part, message, rank, link, prioritised)
        module, ranks = cupy(), self.ranks
        in_first = _in_first(part, self.value_bytes)
        world.barrier()  # nobody writes to them for a run before
        module.cuda.runtime.memset(blocks[rank], 0, _head_bytes(ranks))
        module.cuda.runtime.deviceSynchronize()
        places = np.array(world.everyones(in_first[:-1].tolist()), np.int64)[:, rank]
        self.log = module.zeros((TRACE_ROWS + 1, ranks, ranks + 2), np.int64)
        self.pointed = {
            "blocks": module.asarray(np.array(blocks, np.uint64)),
            "places": module.asarray(places),
            "send_first": self.first,
            "word_first": module.asarray(self.word_first),
            "mirror_first": module.asarray(self.mirror_first),
            "in_first": module.asarray(in_first),
            "arrived": module.zeros(1, np.uint32),
            "over": module.zeros(1, np.uint32),
            **{
                name: getattr(self, name)
                for name in ("sends", "bits", "mirrors", "cursors", "message", "log")
            },
        }
        wire = np.zeros(1, WIRE)
        for name, array in self.pointed.items():
            wire[name] = array.data.ptr
        wire["ranks"], wire["rank"] = ranks, rank
        self.argument, self.round = argument(wire), 0

    name = "peer memory"

    def _make_buffers(self) -> None:
        """Messages lie in the blocks."""

    @staticmethod
    def block_bytes(part: Part, message: np.dtype, ranks: int) -> int:
        """Of a rank's block: counts and flags, then messages that come."""
        return int(_in_first(part, message.itemsize)[-1])

    def rounds(self, engine: Any, count: int, chooses: bool) -> list[tuple[Any, Any]]:
        """Launch so many rounds; events between which each of them exchanges.

        ``chooses``: which vertices are active changes; else the counts that were told first remain.
        """
        state, graph, space, control = engine.ready.arguments
        events = [(cupy().cuda.Event(), cupy().cuda.Event()) for _ in range(count)]
        for turn, (begin, end) in enumerate(events):
            at, now = np.int64(turn), np.int64(self.round + 1)
            self.launch(engine, "gpop_open", 1, (self.argument, control, at))
            begin.record()
            self._launch_all(engine, "gpop_post", (self.argument, state, control, at, now))
            self._launch_all(engine, "gpop_take", (self.argument, graph, space, control, at, now))
            end.record()
            engine._start(engine.ready.loop, current_stream())
            if chooses:
                self._launch_all(engine, "gpop_look", (self.argument, space, control, self.row, self.next))
            self._tell(engine, turn + 1, self.row if chooses else self.next)
            if chooses:
                self.row, self.next = self.next, self.row
        return events

    def found(self, count: int, done: int) -> np.ndarray:
        """Rows of counts of the rounds that were done of so many; `counts` are those behind the last one."""
        log = self.log[: count + 1].get()
        self.counts = log[count]
        self.log[0] = self.log[count]
        for rows in log[:done, self.rank, : self.ranks]:
            forms = self._forms(rows, self.part.send_counts)
            self.traffic[exchange_wire.BYTES] += sum(form.nbytes for form in forms)
            self.traffic[exchange_wire.VALUES] += rows.sum()
        self.traffic[exchange_wire.EXCHANGES] += done
        return log[:done]

    def _rows_of_all(self, engine: Any) -> np.ndarray:
        self._tell(engine, 0, self.row)
        return self.log[0].get()

    def _tell(self, engine: Any, at: int, row: Any) -> None:
        self.round += 1
        self.launch(engine, "gpop_tell", 1, (self.argument, row, np.int64(at), np.int64(self.round)))

    def _launch_all(self, engine: Any, name: str, arguments: tuple) -> None:
        """The host does not know how much there is to look at."""
        self.launch(engine, name, engine.ready.device.multiprocessors * limits.BLOCK_THREADS, arguments)


def _head_bytes(ranks: int) -> int:
    return _whole_lines(8 * (2 * ranks * (ranks + 2) + 2 * ranks))


def _in_first(part: Part, value_bytes: int) -> np.ndarray:
    """Where each rank's messages begin in a block, and its end."""
    rooms = [_whole_lines(room) for room in rooms_of(part.mirror_counts, value_bytes).tolist()]
    return _head_bytes(part.mirror_counts.size) + starts(np.array(rooms))


def _whole_lines(nbytes: int) -> int:
    return -(-nbytes // ALIGNED) * ALIGNED
