"""Iterations of a rank's GPU whose messages the host exchanges in between: by NCCL, or by itself.

The host has the counts of all ranks after each iteration: it knows who sends what, in which form, and whether
the run is over. Control says on the device what the exchange adds to, and one iteration is launched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.cpu import exchange_wire
from gpop.gpu import limits
from gpop.gpu.device import cupy, current_stream
from gpop.gpu.exchange import Exchange
from gpop.gpu.prepared import Prepared
from gpop.gpu.structs import Numbers
from gpop.gpu.traits import Traits
from gpop.plan.trace import COLUMNS, FRONTIER_AT
from gpop.ranks.gpu_wire import GpuWire
from gpop.ranks.part import Part

NOBODY = int(np.iinfo(np.int64).max)
"""In place of the lowest priority where nobody waits (kernels/buckets.cuh)."""


class HostRounds:
    """Base of a rank's engine: its steps where ranks do not reach each other's memory."""

    part: Part
    wire: GpuWire
    traits: Traits
    ready: Prepared
    exchange: Exchange
    control: Numbers

    def _iteration(self) -> np.ndarray:
        """Exchange, one iteration, and what is active after it; its record."""
        record, all_active = np.zeros(len(COLUMNS) - 1), self.traits.all_active
        active, incoming = self._active_here, self.wire.incoming
        works = all_active or active + incoming > 0
        self._reopen(incoming, works)
        begin, end = self.ready.events
        begin.record()
        self.wire.exchange(self)
        end.record()
        if works:
            self._start(self.ready.loop, current_stream())
        self._find_active()
        for row in self._records():
            record += row
        record[FRONTIER_AT] = self.part.last - self.part.first if all_active else active
        self._note_exchange(begin, end)
        return record

    def _iterations(self, count: int) -> np.ndarray:
        """So many of a program whose vertices all stay active, one behind the other on the device."""
        self._reopen(0, True)
        exchanges = []
        for turn in range(count):
            if turn:
                self.wire.launch(self, "gpop_again", 1, (self.exchange.device_control,))
            exchanges.append([cupy().cuda.Event(), cupy().cuda.Event()])
            exchanges[-1][0].record()
            self.wire.exchange(self)
            exchanges[-1][1].record()
            self._start(self.ready.loop, current_stream())
        self.exchange.receive(current_stream())
        records = self._records().copy()
        records[:, FRONTIER_AT] = self.part.last - self.part.first
        for begin, end in exchanges:
            self._note_exchange(begin, end)
        return records

    def _note_exchange(self, begin: Any, end: Any) -> None:
        self.wire.traffic[exchange_wire.WAITED] += int(1e6 * cupy().cuda.get_elapsed_time(begin, end))

    def _find_active(self) -> None:
        """What is active anywhere, now that an iteration is over; where nothing is, of the next bucket."""
        self.wire.choose(self)
        self.exchange.receive(current_stream())
        least = self.wire.least
        if self.wire.active or least == NOBODY:
            return
        rows = int(self.control["rows"])
        self._reopen(0, True)
        self.control["bucket"], self.control["list_valid"], self.control["rows"] = least, 0, rows
        self._send(current_stream())
        self.wire.launch(self, "gpop_join", self.part.graph.n, self.ready.arguments)
        self.wire.choose(self)
        self.exchange.receive(current_stream())

    def _reopen(self, incoming: int, works: bool) -> None:
        """Put what is active where the exchange adds to it, as if it had been loaded.

        Many that come are not listed: the list is made of bits where one is wanted.
        """
        control = self.control
        if not control["fresh"]:
            control["needy"] += control["frontier"]
            control["needy_edges"] += control["edges"]
            control["next_frontier"], control["next_edges"] = control["frontier"], control["edges"]
            control["next_list"], control["next_heavy"] = control["list_size"], control["heavy_size"]
            control["fresh"] = 1
        if incoming > limits.MOST_LISTED:
            control["list_valid"] = control["next_list"] = control["next_heavy"] = 0
        control["rows"], control["row_limit"] = 0, 1
        control["iteration"] += not works
        self._send(current_stream())
