"""An engine that rests with its graph between runs, for runs that are asked for like the one it was made for.

What is found by one look-up is what the next run begins with (`gpop.execution.again`). Where one block of
threads does a run that is nearly all of it: a `OneBlock` has its launch laid out, with arguments of its own,
and a *letter*, the bytes that the device is sent, as a run begins that was asked for nothing else. A run
copies the letter, writes what differs (values of a few vertices, parameters, the frontier, the limit),
launches once, waits once, and reads the answer. Other runs go the way of all, but for what is there.

After a loop that has filled the caches a function of Python takes 3 us, a call of CuPy 3 to 10: what is
called here is counted by a test.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from gpop.gpu.device import cupy, of_cupy
from gpop.gpu.engine import FRONTIER, HEAVY, ITERATION, LIMIT, NOBODY, ROWS, GpuEngine
from gpop.gpu.exchange import FIRST_ROWS
from gpop.gpu.launch import Launch
from gpop.gpu.structs import FETCHED_AT, argument, packer
from gpop.plan.engine import Left
from gpop.plan.plan import Plan
from gpop.program.program import Program
from gpop.program.values import Declared, Fields

SAME = ("exchange", "control", "fields", "known")
"""Attributes of an engine that are the same for runs alike."""


class RestingEngine(GpuEngine):
    """An engine of one run or, between them, of many."""

    def __init__(self, plan: Plan, push: int | None = None) -> None:
        super().__init__(plan, push)
        self.alike: dict[frozenset[str], OneBlock | dict[str, Any]] = {}
        """What there is of runs whose fields are small but for these, which are arrays of the device."""

    def rest(self) -> bool:
        """Let go of the graph and the program; False where the next run may be prepared otherwise."""
        if self.push is not None or self.link is not None:
            return False
        self.device, self.names = cupy().cuda.runtime.getDevice(), frozenset(self.lowered.fields)
        self._alike(self.names & self.program._fields.away)
        self._let_go()
        return True

    def again(self, program: Program, sources: np.ndarray | None, limit: int) -> Left | None:
        """A run of another program of the class on the same graph; None on another device."""
        ready, module = self.ready, cupy()
        if module is not ready.made_with or module.cuda.runtime.getDevice() != self.device:
            return None
        away = self.names & program._fields.away
        alike = self.alike.get(away)
        if type(alike) is OneBlock:
            return alike.run(program, sources, limit)
        self.program, self.limit, self.milliseconds = program, limit, 0.0
        try:
            if alike is None:
                self._work_with(ready)
                alike = self._alike(away)
                if type(alike) is OneBlock:
                    ready.keep_space(self.space)
                    return alike.run(program, sources, limit)
            else:
                vars(self).update(alike)
                self.fields.program, self.space = program, ready.take_space(program.graph)
                ready.give(self.space, self.exchange)
            self.load(sources, self.most_rows)
            records = [self.iterate().copy()]
            while (active := self.active) and self.iteration < limit:
                records.append(self.iterate().copy())
            done = self.finish()
            return Left(records, done.seconds, self.iteration, active, done.frontier, done.touched)
        except BaseException:
            self.abandon()
            raise
        finally:
            self._let_go()

    def _alike(self, away: frozenset[str]) -> OneBlock | dict[str, Any]:
        """What the next run like this one finds; nothing where it has fields that are neither."""
        if len(self.exchange.fields) + len(away) < len(self.fields.names):
            return {}
        found = OneBlock(self, away) if self.ready.in_one else {name: vars(self)[name] for name in SAME}
        self.alike[away] = found
        return found

    def _let_go(self) -> None:
        """Of what leads to the graph, and of arrays whose room somebody else may want."""
        self.fields.forget()
        for name in ("program", "plan", "space", "given"):
            vars(self).pop(name, None)


class OneBlock:
    """The launch of one block for runs alike, ``away`` of whose fields are arrays of the device."""

    def __init__(self, engine: RestingEngine, away: frozenset[str]) -> None:
        ready, exchange, lowered = engine.ready, engine.exchange, engine.lowered
        self.ready, self.exchange, self.words = ready, exchange, exchange.words
        self.took, self.trace = exchange.mail.took, exchange.trace[:, :FETCHED_AT]
        self.finished = exchange.control.place("finished")
        self.current_stream, self.runtime = cupy().cuda.get_current_stream, cupy().cuda.runtime
        self.array = cupy().ndarray
        self.n, self.all_active = engine.program.graph.n, engine.traits.all_active
        state = np.zeros(1, ready.emitted.state_dtype)
        space = np.zeros(len(engine.space.struct), np.uint8)
        said = (
            argument(state), ready.graph, argument(space), np.array([exchange.control_at], np.uint64),
            exchange.mail.argument,
        )  # fmt: skip
        loop, self.tracks = ready.loop, engine.traits.track
        self.launch = Launch(loop.kernel, ready.blocks, ready.block_threads, said, ready.shared)
        self.stream, self.start, self.keeps = 0, self.launch.on(0), ready.keeps(engine.space)
        self.state, self.space = memoryview(state.view(np.uint8)), memoryview(space)
        names = state.dtype.names
        self.pack, self.known = packer(state.dtype).pack_into, [*map(engine.known.get, names)]
        self.parameters = [(at, name) for at, name in enumerate(names) if name in lowered.parameters]
        self.away = [(at, name) for at, name in enumerate(names) if name in away]
        self.written = [(name, exchange.host_fields[name]) for name in lowered.written if name not in away]
        self.like: Fields | None = None
        """What the fields and parameters of the last run were like, and the letter that it began with."""
        self.letter = b""
        self._write_letter(engine)

    def _write_letter(self, engine: RestingEngine) -> None:
        """What the device is sent in a run of a new program that nothing was set in."""
        exchange, declared = self.exchange, type(engine.program).vertex_fields()
        self.begun = [(name, array, declared[name].fill) for name, array in exchange.host_fields.items()]
        for _, array, fill in self.begun:
            array.fill(fill)
        engine._begin_control(engine.most_rows)
        self.words[FRONTIER] = self.n
        self.first = bytes(exchange.letter)
        self.pack(self.state, 0, *self._values(engine.program))

    def _values(self, program: Program) -> list[Any]:
        """Of ``struct State``."""
        values, parameters = self.known, program._parameters
        for at, name in self.parameters:
            values[at] = parameters[name]
        for at, name in self.away:
            array = program._fields.made[name]
            values[at] = (array if type(array) is self.array else of_cupy(array)).data.ptr
        return values

    def _begin(self, program: Program) -> None:
        """Letter and ``struct State`` of a run of this program."""
        exchange, fields = self.exchange, program._fields
        self.like = None  # until all is written: an interrupt may come between any two steps
        recipes, exchange.letter[:] = fields.recipes, self.first
        for name, array, fill in self.begun:
            recipe = recipes.get(name)
            if type(recipe) is not Declared or recipe.value is not fill:
                exchange.take(fields)
                break
            for vertex, value in recipe.others.items():
                array[vertex] = value
        if self.parameters or self.away:
            self.pack(self.state, 0, *self._values(program))
        if fields.like is not None:
            self.letter = bytes(exchange.letter)
            self.like = fields.like

    def run(self, program: Program, sources: np.ndarray | None, limit: int) -> Left:
        """From the first byte to the last one."""
        ready, exchange, words, fields = self.ready, self.exchange, self.words, program._fields
        stream, space = self.current_stream().ptr, ready.space or ready.take_space(program.graph)
        ready.space = None
        if stream != self.stream:
            self.stream, self.start = stream, self.launch.on(stream)
        recipes, made, self.space[:] = fields.recipes, fields.made, space.struct
        if fields.like is None or fields.like is not self.like:
            self._begin(program)
        else:
            exchange.letter[:] = self.letter
        words[LIMIT], words[HEAVY] = limit, space.heavy_size
        given = None if self.all_active else exchange.load(sources, self.n)
        start, wait = self.start, self.runtime.streamSynchronize
        records, nanoseconds, (flags, finished) = [], 0, self.finished
        try:
            while True:
                start()
                wait(stream)
                if words[ROWS] > FIRST_ROWS:
                    exchange.bring_rows(stream)
                nanoseconds += self.took[0]
                records.append(self.trace[: words[ROWS]].copy())
                active = 0 if flags[finished] else words[FRONTIER]
                if not active or words[ITERATION] >= limit:
                    break
                exchange.go_on()
                words[ROWS] = 0
        except BaseException:  # the device writes where the next run begins
            with suppress(self.runtime.CUDARuntimeError):  # which is on its way already
                wait(stream)
            raise
        del given
        for name, array in self.written:
            if name in made:
                np.copyto(made[name], array)
            else:
                made[name] = array.copy()
                recipes.pop(name, None)
        frontier, touched = NOBODY, space.touched() if self.tracks else None
        if active and not self.all_active:
            frontier = space.active()
        elif self.keeps:
            ready.space = space
        return Left(records, 1e-9 * nanoseconds, words[ITERATION], active, frontier, touched)
