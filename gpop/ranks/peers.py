"""The exchange between GPUs that reach each other's memory: rounds one behind the other on the device.

Kernels, and what lies in the blocks of memory, are in gpop/gpu/kernels/peers.cuh. The host launches several
rounds and reads what they have found behind the last one: it waits for the device once in all of them, and
for no other rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange_wire
from gpop.gpu import limits
from gpop.gpu.device import cupy, current_stream
from gpop.gpu.launch import Launch
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
            "blocks", "places", "sends", "send_first", "bits", "word_first", "mirrors", "mirror_first",
            "in_first", "cursors", "message", "log", "arrived", "over", "range", "ranks", "rank", "m",
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
    chooses = True
    """Whether messages are chosen in a launch of its own, where who is active changes."""

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
        places = np.array(world.everyones(in_first[:-1].tolist()), np.int64)[:, rank]
        self.log = module.zeros((TRACE_ROWS + 1, ranks, ranks + 2), np.int64)
        self.pointed = self._pointed() | {
            "blocks": module.asarray(np.array(blocks, np.uint64)),
            "places": module.asarray(places),
            "in_first": module.asarray(in_first),
            "arrived": module.zeros(1, np.uint32),
            "over": module.zeros(1, np.uint32),
            "log": self.log,
        }
        wire = np.zeros(1, WIRE)
        for name, array in self.pointed.items():
            wire[name] = array.data.ptr
        wire["ranks"], wire["rank"], wire["m"] = ranks, rank, m
        self.argument = argument(wire)
        self.events: list[tuple[Any, Any]] = []
        self.slot, self.round, self.opens, self.edges = (np.zeros(1, np.int64) for _ in range(4))
        self.told_row, self.chosen_row, self.cleared_row = (np.zeros(1, np.uint64) for _ in range(3))
        self.launches: dict[str, Launch] = {}

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
        """Where each rank's messages begin in a block, and its end."""
        return in_first(rooms_of(part.mirror_counts, message.itemsize))

    @classmethod
    def block_bytes(cls, part: Part, message: np.dtype) -> int:
        """Of a rank's block: counts and flags, then messages that come."""
        return int(cls._in_first(part, message)[-1])

    def begin(self, engine: Any, edges: int) -> None:
        """Before the first round of a run, whose frontier is loaded: ``edges`` of its own vertices."""
        self.edges[0] = edges
        if self.chooses:
            self._choose(engine)
            self.row, self.next = self.next, self.row

    def rounds(self, engine: Any, count: int, changes: bool) -> list[tuple[Any, Any]]:
        """Launch so many rounds; events between which each of them exchanges.

        ``changes``: which vertices are active may; else the counts that were told first remain.
        """
        stream, chooses = current_stream(), changes and self.chooses
        post, take, look = (self.launches[name] for name in ("gpop_post", "gpop_take", "gpop_look"))
        self._make_events(count)
        self._tell(stream, 0, count)
        self.edges[0] = COUNTED
        for turn, (begin, end) in enumerate(self.events[:count]):
            begin.record()
            post(stream)
            take(stream)
            end.record()
            engine._start(engine.ready.loop, stream)
            if chooses:
                self.chosen_row[0], self.cleared_row[0] = self.row.data.ptr, self.next.data.ptr
                look(stream)
                self.row, self.next = self.next, self.row
            self._tell(stream, turn + 1, count)
        return self.events[:count]

    def _tell(self, stream: int, slot: int, count: int) -> None:
        """The row that was chosen last, of the rounds before this slot of so many."""
        self.slot[0], self.opens[0], self.told_row[0] = slot, slot < count, self.next.data.ptr
        self.round[0] += 1
        self.launches["gpop_tell"](stream)

    def _make_events(self, count: int) -> None:
        self.events += [(cupy().cuda.Event(), cupy().cuda.Event()) for _ in range(count - len(self.events))]

    def lay_out(self, engine: Any, count: int) -> None:
        """Launches with where their arguments lie, and what so many rounds need."""
        self._make_events(count)
        state, graph, space, control = engine.ready.arguments
        wire, slot, now = self.argument, self.slot, self.round
        blocks = engine.ready.device.multiprocessors
        for name, most, arguments in (
            ("gpop_tell", 1, (wire, graph, control, self.told_row, slot, now, self.opens, self.edges)),
            ("gpop_post", blocks, (wire, state, space, control, slot, now)),
            ("gpop_take", blocks, (wire, graph, space, control, slot, now)),
            ("gpop_look", blocks, (wire, space, control, self.chosen_row, self.cleared_row)),
        ):
            kernel = engine.ready.module.get_function(name)
            self.launches[name] = Launch(kernel, most, limits.BLOCK_THREADS, arguments)

    def found(self, count: int, done: int) -> np.ndarray:
        """Rows of counts of the rounds that were done of so many; `counts` are those behind the last one."""
        log = self.log[: count + 1].get()
        self.counts = log[count]
        for rows in log[:done, self.rank, : self.ranks]:
            self.traffic[exchange_wire.BYTES] += self._bytes_of(rows)
            self.traffic[exchange_wire.VALUES] += rows.sum()
        self.traffic[exchange_wire.EXCHANGES] += done
        return log[:done]

    def _bytes_of(self, counts: np.ndarray) -> int:
        """What so many messages to each rank take."""
        return sum(form.nbytes for form in self._forms(counts, self.part.send_counts))


class ToldWire(PeerWire):
    """`PeerWire` where the bits of own active vertices are all that others must be told: as words, to all."""

    chooses = False

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
