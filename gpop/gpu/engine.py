"""The GPU as a target: layout and fields to the device, slices of the device's loop, and the end of a run.

The loop (kernels/engine.cuh) is one cooperative launch that iterates until it is over, its trace buffer is
full or its time slice has passed; the host reads one small block (Control) then.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from gpop.gpu import calibrate
from gpop.gpu.device import cupy, current_stream
from gpop.gpu.fields import DeviceFields
from gpop.gpu.kernel import FUSED
from gpop.gpu.launch import Launch
from gpop.gpu.prepared import Prepared, note, noted
from gpop.gpu.preparing import Preparing
from gpop.gpu.structs import FETCHED_AT, TRACE_ROWS, word_of
from gpop.gpu.tree import load_tree
from gpop.model.strategies import TREE
from gpop.plan.engine import NOBODY, Finished
from gpop.plan.plan import Plan

SLICE_NS = 100_000_000
"""The loop returns to Python after the iteration in which so many nanoseconds pass, for progress and Ctrl-C.

An iteration is not cut: its longest chain is a hub's, 20 ns per message (kernels/owner.cuh), so that it
takes a vertex of five million in-edges to be late by as much again."""

ITERATION, LIMIT, ROWS, ROW_LIMIT, SLICE, FRONTIER, HEAVY = map(
    word_of, ("iteration", "limit", "rows", "row_limit", "slice_ns", "frontier", "heavy_size")
)


class GpuEngine(Preparing):
    """One run on the current device; see `gpop.plan.engine.Engine`.

    ``push`` (`gpop.gpu.traits`) gathers without the program's ``combine``, by compare-and-swap or by one
    owner per vertex: for comparing the ways.
    """

    most_rows = TRACE_ROWS
    settles, schedules = True, False

    def __init__(self, plan: Plan, push: int | None = None) -> None:
        cupy()
        self.plan, self.program, self.lowered, self.push = plan, plan.program, plan.lowered, push
        self.limit = plan.limit
        self.milliseconds = self.prepare_seconds = 0.0
        self.stream: int | None = None
        """On which the device is at work."""

    # --- before the run ------------------------------------------------------------------------

    def prepare(self) -> dict[str, Any]:
        """Layout and workspace to the device, the kernels compiled; refuses what does not fit."""
        kept = noted(self.plan) if self.push is None else None
        ready = kept or self._made_ready()
        said = self._work_with(ready)
        if kept is None:
            self.prepare_seconds = ready.seconds
            self.fields.keep_constants()  # what is kept later undoes notes
            if self.push is None and self.link is None:
                note(self.plan, ready)
        return said | {"residency": "stream"} if self.link else said

    def _work_with(self, ready: Prepared) -> dict[str, Any]:
        """What this run goes on with; what its trace says of that."""
        self.ready, self.mode, self.layout, self.traits = ready, ready.mode, ready.layout, ready.traits
        names = self.lowered.fields
        with self.layout.allocating():
            self.exchange = exchange = ready.exchange_for(self.program, () if self.link else names)
            self.space = ready.take_space(self.program.graph)
        self.control = exchange.control
        self.fields = DeviceFields(self.program, names, exchange, ready, self.link is not None)
        self.known = {**exchange.addresses, "iteration": 0}  # the device counts it
        if "out_degree" in self.lowered.built_in:
            self.known["out_degree"] = self.layout["out_degree"].data.ptr
        ready.give(self.space, exchange)
        return ready.said

    def _with_constants(self, ready: Prepared) -> Prepared:
        """What the model goes by, measured where it was not yet, and the tree in its place."""
        ratio, auto = self.plan.ratio, self.mode in ("auto", TREE)
        if ratio is None:
            ratio = calibrate.device_ratio(GpuEngine) if auto else 1.0
        ready.mode, ready.ratio = self.mode, ratio
        ready.link_cost = calibrate.link_cost(GpuEngine) if auto and self.link else 0.0
        if self.plan.tree is not None:
            with ready.layout.allocating():
                ready.fixed = load_tree(self.plan, ready.traits, self.link is not None)
        return ready

    # --- the run -------------------------------------------------------------------------------

    @property
    def iteration(self) -> int:
        return self.exchange.words[ITERATION]

    @property
    def active(self) -> int:
        return 0 if self.control["finished"] else self.exchange.words[FRONTIER]

    def load(self, sources: np.ndarray | None, rows: int) -> None:
        """Fields to the device; these vertices, or all, become the frontier."""
        self.stream = current_stream()
        self.refresh()
        exchange = self.exchange
        self._begin_control(rows)
        exchange.words[LIMIT], exchange.words[HEAVY] = self.limit, self.space.heavy_size
        exchange.words[FRONTIER] = self.program.graph.n
        self.fresh = True
        if not self.traits.all_active:
            with self.layout.allocating():
                self.given = exchange.load(sources, self.program.graph.n)
        if self.launched is not FUSED:
            self._load_apart(current_stream())

    def _begin_control(self, rows: int) -> None:
        """Control of a run that begins and brings so many records at once."""
        self.exchange.begin(self.ready.head)
        self.exchange.words[ROW_LIMIT], self.exchange.words[SLICE] = rows, SLICE_NS

    def _load_apart(self, stream: int) -> None:
        """By a launch of its own, in place of that of the loop."""
        self.exchange.send(stream)
        if not self.traits.all_active:
            place, size = self.ready.given
            place[0], size[0] = self.exchange.loaded
            self.ready.loader(stream)

    def iterate(self) -> np.ndarray:
        """Let the device iterate until the host is due; the records of the trace."""
        self._launch(self._launch_of_now())
        return self._records()

    def _launch_of_now(self) -> Launch:
        """The cluster's where few are active, as far as is known: a run begins so, where the graph has it.
        One that begins with a vertex has another one on small graphs."""
        ready = self.ready
        if ready.swept is not None and self.fresh and self.exchange.words[FRONTIER] == 1:
            return ready.swept
        few = ready.levels is not None and (self.fresh or self.control["few"])
        return ready.levels if few else ready.loop

    def scatter(self) -> None:
        """The first half of an iteration. Its kernels are compiled when they are first wanted."""
        if (
            self.fresh and not self.traits.all_active
        ):  # one record at a time, which the loader knows nothing of
            stream = current_stream()
            self._load_apart(stream)
            self.exchange.receive(stream)
            self.fresh = False
        self.control["row_limit"] = 1
        self._launch(self.ready.halves[0])

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration."""
        self._launch(self.ready.halves[1], goes_on=True)
        return self._records()

    def _records(self) -> np.ndarray:
        exchange = self.exchange
        if self.link is not None:
            self.link.take(exchange.trace[: exchange.words[ROWS]])
        return exchange.trace[: exchange.words[ROWS], :FETCHED_AT]

    def _launch(self, launch: Launch, goes_on: bool = False) -> None:
        """One launch on the arrays of the run, timed; Control is read back.

        ``goes_on``: with the record that the launch before has begun.
        """
        self._begin(launch, goes_on)
        self._end()

    def _begin(self, launch: Launch, goes_on: bool = False) -> None:
        """The launch is on its way, until `_end`."""
        exchange, (begin, end), mail = self.exchange, self.ready.events, self.exchange.mail
        self.stream, record = current_stream(), cupy().cuda.runtime.eventRecord
        stream = self.stream
        if self.fresh:
            exchange.send(stream)
        else:
            if not goes_on:
                exchange.words[ROWS] = 0
            self._send(stream)
        self.fresh = False
        if mail is None:
            record(begin.ptr, stream)
        self._start(launch, stream)
        if mail is None:
            record(end.ptr, stream)
            exchange.ask(stream)

    def _end(self) -> None:
        """Wait for the launch."""
        (begin, end), mail = self.ready.events, self.exchange.mail
        self.exchange.wait(self.stream)
        self.stream = None
        elapsed = cupy().cuda.get_elapsed_time
        self.milliseconds += elapsed(begin, end) if mail is None else mail.milliseconds

    def _start(self, launch: Launch, stream: int) -> None:
        launch(stream)

    def _send(self, stream: int) -> None:
        """What the next launch begins with; nobody has arrived at its barriers."""
        self.exchange.go_on()
        self.exchange.send(stream)

    def refresh(self) -> None:
        """Fields to the device; those that are there already are used as they are."""
        self.fields.send()
        self.ready.give_state(self._state())

    def _state(self) -> list[Any]:
        """The values of ``struct State`` as the program is now."""
        known = self.known | self.program._parameters
        if len(self.fields) > len(self.exchange.fields):
            for name in self.fields.keys() - known.keys():
                known[name] = self.fields[name].data.ptr
        return [*map(known.__getitem__, self.ready.emitted.state_dtype.names)]

    def publish(self) -> None:
        """Have fields where the program has them."""
        self.fields.fetch(self.lowered.written)

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Finished:
        """Fields back, and the vertices that are still active."""
        if self.fresh and self.launched is FUSED:  # nobody has asked for an iteration
            stream = current_stream()
            self._load_apart(stream)
            self.exchange.wait(stream)
        frontier, touched = self._leave()
        finished = Finished(
            self.milliseconds * 1e-3,
            self.prepare_seconds,
            frontier=frontier,
            touched=touched,
            counters=None,
            mode=self.mode,
            threads=self.ready.threads,
            partition_size=1 << self.traits.bits,
            partitions=self.ready.partitions,
            link=None if self.link is None else self.link.said(),
        )
        if self.link is not None:  # what others may want of the device
            del self.space
            self.fields.clear()
            self.layout.pool.free_all_blocks()
        self.fields.forget()
        return finished

    def _leave(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Fields are where they stay, and a clean workspace, too; who is active, and who ever was."""
        self.fields.fetch(self.lowered.written)
        space, is_active = self.space, not self.traits.all_active and self.active
        found = space.active() if is_active else NOBODY, space.touched()
        if not is_active and self.link is None:
            self.ready.keep_space(space)
        return found

    def abandon(self) -> None:
        """The workspace was not given back. What was begun ends: it writes where the next run begins."""
        if self.stream is not None:
            runtime = cupy().cuda.runtime
            with suppress(runtime.CUDARuntimeError):  # which is on its way already
                runtime.streamSynchronize(self.stream)
