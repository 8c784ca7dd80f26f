"""The exchange between GPUs that reach each other's memory: rounds one behind the other on the device.

Kernels, and what the blocks of memory hold, are in gpop/gpu/kernels/peers.cuh. Blocks are made known to the
other processes by handles of CUDA (``cudaIpcGetMemHandle``); the host launches several rounds at once and reads
what they have found behind the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange
from gpop.gpu import limits
from gpop.gpu.device import cupy
from gpop.gpu.structs import TRACE_ROWS, argument
from gpop.ranks.gpu_wire import GpuWire
from gpop.ranks.world import World

_NAMES = (
    "blocks", "places", "sends", "send_first", "bits", "word_first", "mirrors", "mirror_first", "in_first",
    "cursors", "message", "log", "arrived", "ranks", "rank",
)  # fmt: skip
WIRE = np.dtype([(name, "u8") for name in _NAMES])
"""``struct Wire``."""

_blocks: dict[int, tuple[int, list[int]]] = {}


def reach(world: World, nbytes: int) -> list[int]:
    """Addresses of blocks of at least so many bytes of all ranks, the own one among them; zeros at first."""
    runtime = cupy().cuda.runtime
    device = cupy().cuda.Device().id
    size, blocks = _blocks.pop(device, (0, []))
    if any(world.everyones(nbytes > size)):
        for rank, each in enumerate(blocks):
            if rank != world.rank:
                runtime.ipcCloseMemHandle(each)
        world.barrier()
        if blocks:
            runtime.free(blocks[world.rank])
        size = nbytes
        own = runtime.malloc(size)
        handles = world.everyones(runtime.ipcGetMemHandle(own))
        blocks = [
            own if rank == world.rank else runtime.ipcOpenMemHandle(handle) for rank, handle in enumerate(handles)
        ]
    _blocks[device] = size, blocks
    return blocks


class PeerWire(GpuWire):
    """`GpuWire`, whose messages go where they are looked for."""

    name = "peer memory"
    timed = False

    def __init__(self, *given: Any, world: World) -> None:
        super().__init__(*given)
        ranks, module = self.ranks, cupy()
        head = 8 * (2 * ranks * (ranks + 2) + 2 * ranks)
        in_first = self.in_first + head
        self.blocks = reach(world, int(in_first[-1]) + 8)
        world.barrier()
        module.cuda.runtime.memset(self.blocks[world.rank], 0, head)
        module.cuda.runtime.deviceSynchronize()
        world.barrier()
        places = np.array(world.everyones(in_first[:-1].tolist()), np.int64)[:, world.rank]
        self.log = module.zeros((TRACE_ROWS + 1, ranks, ranks + 2), np.int64)
        self.kept = {
            "blocks": module.asarray(np.array(self.blocks, np.uint64)),
            "places": module.asarray(places),
            "word_first": module.asarray(self.word_first),
            "send_first": self.first,
            "mirror_first": module.asarray(self.mirror_first),
            "in_first": module.asarray(in_first),
            "arrived": module.zeros(1, np.uint32),
            **{name: getattr(self, name) for name in ("sends", "bits", "mirrors", "cursors", "message", "log")},
        }
        wire = np.zeros(1, WIRE)
        for name, array in self.kept.items():
            wire[name] = array.data.ptr
        wire["ranks"], wire["rank"] = ranks, self.rank
        self.wire, self.round = argument(wire), 0

    def tell(self, engine: Any, slot: int, row: Any) -> None:
        self.round += 1
        arguments = self.wire, row, np.int64(slot), np.int64(self.round)
        engine.ready.module.get_function("gpop_tell")((1,), (limits.BLOCK_THREADS,), arguments)

    def _rows_of_all(self, engine: Any) -> np.ndarray:
        self.tell(engine, 0, self.row)
        return self.log[0].get()

    def rounds(self, engine: Any, count: int, chooses: bool) -> None:
        """Launch so many rounds."""
        state, graph, space, control = engine._arguments()
        threads = (limits.BLOCK_THREADS,)
        every = (engine.ready.device.multiprocessors,)
        get = engine.ready.module.get_function
        opens, post, take, choose = (get(f"gpop_{name}") for name in ("open", "post", "take", "choose"))
        marks = self.marks = []
        def mark():
            if self.timed:
                marks.append(cupy().cuda.Event()); marks[-1].record()
        mark()
        for turn in range(count):
            slot, now = np.int64(turn), np.int64(self.round + 1)
            opens((1,), threads, (self.wire, control, slot))
            mark()
            post(every, threads, (self.wire, state, control, slot, now))
            mark()
            take(every, threads, (self.wire, graph, space, control, slot, now))
            mark()
            engine._start(engine.ready.loop)
            mark()
            if chooses:
                choose(every, threads, (
                    space, control, self.sends, self.first, np.int64(self.ranks), self.bits, self.row, self.next,
                    self.cursors,
                ))
                mark()
            self.tell(engine, turn + 1, self.row if chooses else self.next)
            mark()
            if chooses:
                self.row, self.next = self.next, self.row

    def found(self, count: int) -> np.ndarray:
        """Rows before each of so many rounds; those after the last one are `counts` now."""
        log = self.log[: count + 1].get()
        self.counts = log[count]
        self.log[0] = self.log[count]
        return log[:count]

    def note(self, log: np.ndarray) -> None:
        """Add to the traffic what was sent in these rounds."""
        for rows in log:
            forms = self._forms(rows[self.rank, : self.ranks], self.part.send_counts)
            self.traffic[exchange.BYTES] += sum(form.nbytes for form in forms)
            self.traffic[exchange.VALUES] += rows[self.rank, : self.ranks].sum()
            self.traffic[exchange.EXCHANGES] += 1
