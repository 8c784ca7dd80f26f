"""What a rank's device exchanges with the others: lists of mirrors, buffers, and the kernels that fill them.

Kernels are in gpop/gpu/kernels/exchange.cuh, forms in gpop/gpu/exchange_form.py. A row of counts goes to all
ranks first: messages for each of them, and the active vertices here. From the rows of all, every rank knows
whether the run is over, and the form and size of all that is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange_wire
from gpop.gpu import limits
from gpop.gpu.device import cupy
from gpop.gpu.exchange_form import Form, form_of, room_for
from gpop.ranks.link import Link
from gpop.ranks.part import Part

ACTIVE, LEAST = -2, -1


class GpuWire:
    """Arrays of one run.

    ``counts[r, s]`` are the messages of rank r for rank s, ``counts[r, ACTIVE]`` the active vertices of rank
    r, and ``counts[r, LEAST]`` the lowest priority that waits there where none are.
    """

    def __init__(self, part: Part, message: np.dtype, rank: int, link: Link, prioritised: bool) -> None:
        self.prioritised = prioritised
        self.part, self.value_bytes, self.rank, self.link = part, message.itemsize, rank, link
        self.ranks, module = part.send_counts.size, cupy()
        self.row, self.next = (module.zeros(self.ranks + 2, np.int64) for _ in range(2))
        self.counts = np.zeros((self.ranks, self.ranks + 2), np.int64)
        self.traffic = np.zeros(4, np.int64)
        self._make_arrays(message)

    def _make_arrays(self, message: np.dtype) -> None:
        """Lists of mirrors, what they have said last, and buffers."""
        part, module = self.part, cupy()
        words = (part.send_counts + 31) // 32
        self.sends, self.mirrors = module.asarray(part.sends), module.asarray(part.mirrors.astype(np.uint32))
        self.send_first, self.mirror_first = starts(part.send_counts), starts(part.mirror_counts)
        self.first, self.word_first = module.asarray(self.send_first), starts(words)
        self.bits = module.zeros(int(words.sum()) + 1, np.uint32)
        self.cursors = module.zeros(self.ranks, np.int64)
        self.rows = module.zeros((self.ranks, self.ranks + 2), np.int64)
        self._make_buffers()
        self.message = module.zeros(part.graph.n, message)

    @property
    def name(self) -> str:
        """What a run says of it."""
        return self.link.name

    def _make_buffers(self) -> None:
        rooms = (rooms_of(each, self.value_bytes) for each in _counts(self.part))
        self.out_first, self.in_first = (starts(each) for each in rooms)
        self.out, self.into = (
            cupy().zeros(int(each[-1]) + 8, np.uint8) for each in (self.out_first, self.in_first)
        )

    @staticmethod
    def bytes_of(part: Part, message: np.dtype) -> int:
        """What these arrays take of the device, about."""
        sent, come = (int(each.sum()) for each in _counts(part))
        lists = (sent + come) * (4 + message.itemsize) + (2 * sent + come) // 8
        return lists + part.graph.n * message.itemsize + (1 << 16)

    @property
    def active(self) -> int:
        """Of all ranks."""
        return int(self.counts[:, ACTIVE].sum())

    @property
    def least(self) -> int:
        """The lowest priority that waits, where nothing is active anywhere."""
        return int(self.counts[:, LEAST].min())

    @property
    def incoming(self) -> int:
        """Messages that the next `exchange` brings."""
        return int(self.counts[:, self.rank].sum())

    def choose(self, engine: Any) -> None:
        """Count what is to be sent, and know the counts of all."""
        self._choose(engine)
        if self.prioritised:
            own = self.row[ACTIVE:], self.row[LEAST:]
            self.launch(engine, "gpop_least", self.part.graph.n, (*engine.ready.arguments, *own))
        self.counts = self._rows_of_all(engine)
        self.row, self.next = self.next, self.row

    def _choose(self, engine: Any) -> None:
        """Count what is to be sent, into `row`."""
        _, _, space, control = engine.ready.arguments
        arguments = (
            space, control, self.sends, self.first, np.int64(self.ranks), self.bits, self.row, self.next,
            self.cursors,
        )  # fmt: skip
        self.launch(engine, "gpop_choose", 1 if engine.traits.all_active else self.part.sends.size, arguments)

    def _rows_of_all(self, engine: Any) -> np.ndarray:
        return self.link.rows(self.row, self.rows)

    def exchange(self, engine: Any) -> None:
        """Messages of own active vertices to who mirrors them, those of mirrors into the frontier."""
        sends = self._forms(self.counts[self.rank, : self.ranks], self.part.send_counts)
        comes = self._forms(self.counts[:, self.rank], self.part.mirror_counts)
        for rank, form in enumerate(sends):
            if form.nbytes:
                self._pack(engine, rank, form)
        out = np.array([[begin, form.nbytes] for begin, form in zip(self.out_first, sends, strict=False)])
        into = np.array([[begin, form.nbytes] for begin, form in zip(self.in_first, comes, strict=False)])
        self.link.exchange(self.out, out, self.into, into)
        for rank, form in enumerate(comes):
            if form.nbytes:
                self._unpack(engine, rank, form)
        self.traffic[exchange_wire.BYTES] += out[:, 1].sum()
        self.traffic[exchange_wire.VALUES] += self.counts[self.rank, : self.ranks].sum()
        self.traffic[exchange_wire.EXCHANGES] += 1

    def add_up(self) -> np.ndarray:
        """What was sent and waited in a run that is over (`gpop.cpu.exchange_wire`)."""
        return self.traffic

    def _forms(self, counts: np.ndarray, mirrors: np.ndarray) -> list[Form]:
        pairs = zip(counts.tolist(), mirrors.tolist(), strict=True)
        return [form_of(count, of, self.value_bytes) for count, of in pairs]

    def _pack(self, engine: Any, rank: int, form: Form) -> None:
        state, _, _, control = engine.ready.arguments
        first, last = self.send_first[rank : rank + 2].tolist()
        index, values = self._places(self.out, int(self.out_first[rank]), form)
        arguments = (
            state, control, self.sends[first:], np.int64(last - first), np.int64(form.form),
            self.bits[int(self.word_first[rank]) :], index, values, self.cursors[rank:],
        )  # fmt: skip
        self.launch(engine, "gpop_pack", last - first, arguments)

    def _unpack(self, engine: Any, rank: int, form: Form) -> None:
        _, graph, space, control = engine.ready.arguments
        index, values = self._places(self.into, int(self.in_first[rank]), form)
        arguments = (
            graph, space, control, self.mirrors[int(self.mirror_first[rank]) :],
            np.int64(form.entries), np.int64(form.form), index, values, self.message,
        )  # fmt: skip
        self.launch(engine, "gpop_unpack", form.entries, arguments)

    def _places(self, buffer: Any, begin: int, form: Form) -> tuple[Any, Any]:
        return buffer[begin:], buffer[begin + form.index_bytes :]

    def launch(self, engine: Any, name: str, entries: int, arguments: tuple) -> None:
        """Start a kernel of the engine's module with so much to look at."""
        blocks = max(1, min(engine.ready.device.multiprocessors, -(-entries // limits.BLOCK_THREADS)))
        engine.ready.module.get_function(name)((blocks,), (limits.BLOCK_THREADS,), arguments)


def rooms_of(counts: np.ndarray, value_bytes: int) -> np.ndarray:
    """Most bytes of messages from or to each rank."""
    return np.array([room_for(count, value_bytes) for count in counts.tolist()])


def starts(counts: np.ndarray) -> np.ndarray:
    """Where each one's begin behind each other, and the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _counts(part: Part) -> tuple[np.ndarray, np.ndarray]:
    return part.send_counts, part.mirror_counts
