"""The launch of one block of threads that does a run nearly alone, laid out once for runs alike.

It has arguments of its own, and a *letter*, the bytes that the device is sent, as a run begins that was asked
for nothing else. A run copies the letter, writes what differs (values of a few vertices, parameters, the
frontier, the limit), launches once, waits once, and copies the answer (`gpop.gpu.answer`).

A function of Python takes 3 us after a loop that has filled the caches, a call of CuPy 3 to 10, and the block
about 30 for all of its work. So what need not come before the launch comes while the block is at work, and
nothing is made of the answer. What is called here is counted by a test.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from gpop.gpu.answer import Answer, Answered
from gpop.gpu.device import cupy, of_cupy
from gpop.gpu.engine import FRONTIER, HEAVY, ITERATION, LIMIT, ROWS, GpuEngine
from gpop.gpu.exchange import FIRST_ROWS
from gpop.gpu.launch import Launch
from gpop.gpu.structs import FETCHED_AT, argument, packer
from gpop.plan.engine import NOBODY
from gpop.program.recipes import Declared
from gpop.program.start import Start
from gpop.program.values import Fields


class OneBlock:
    """The launch for runs alike, ``away`` of whose fields are arrays of the device."""

    def __init__(self, engine: GpuEngine, away: frozenset[str]) -> None:
        ready, exchange, lowered = engine.ready, engine.exchange, engine.lowered
        self.ready, self.exchange, self.words = ready, exchange, exchange.words
        self.took, self.trace = exchange.mail.took, exchange.trace[:, :FETCHED_AT]
        self.finished = exchange.control.place("finished")
        self.current_stream, self.runtime = cupy().cuda.get_current_stream, cupy().cuda.runtime
        self.array, self.device = cupy().ndarray, engine.device
        self.n, self.all_active = engine.program.graph.n, engine.traits.all_active
        state = np.zeros(1, ready.emitted.state_dtype)
        space = np.zeros(len(engine.space.struct), np.uint8)
        said = (
            argument(state), ready.graph, argument(space), np.array([exchange.control_at], np.uint64),
            exchange.mail.argument,
        )  # fmt: skip
        loop, self.tracks = ready.loop, engine.traits.track
        self.launch = Launch(loop.kernel, ready.blocks, ready.block_threads, said, ready.shared)
        self.stream, self.begin, self.keeps = 0, self.launch.on(0), ready.keeps(engine.space)
        self.state, self.space = memoryview(state.view(np.uint8)), memoryview(space)
        names = state.dtype.names
        self.pack, self.known = packer(state.dtype).pack_into, [*map(engine.known.get, names)]
        self.parameters = [(at, name) for at, name in enumerate(names) if name in lowered.parameters]
        self.away = [(at, name) for at, name in enumerate(names) if name in away]
        self.written = {name: exchange.host_fields[name] for name in lowered.written if name not in away}
        self.views = {name: memoryview(array) for name, array in exchange.host_fields.items()}
        self.like: Fields | None = None
        """The fields that many runs begin with, of which `letter` and `state` are."""
        self.letter = b""
        self._write_letter(engine)

    def _write_letter(self, engine: GpuEngine) -> None:
        """What the device is sent in a run of a new program that nothing was set in."""
        exchange, declared = self.exchange, type(engine.program).vertex_fields()
        self.begun = [(name, array, declared[name].fill) for name, array in exchange.host_fields.items()]
        for _, array, fill in self.begun:
            array.fill(fill)
        engine._begin_control(engine.most_rows)
        self.words[FRONTIER] = self.n
        self.first = bytes(exchange.letter)
        self.pack(self.state, 0, *self._values(engine.program._fields, engine.program._parameters))

    def _values(self, fields: Fields, parameters: dict[str, Any]) -> list[Any]:
        """Of ``struct State``."""
        values = self.known
        for at, name in self.parameters:
            values[at] = parameters[name]
        for at, name in self.away:
            array = fields.made[name]
            if type(array) is not self.array or array.data.device_id != self.device:
                array = of_cupy(array, name, self.device)
            values[at] = array.data.ptr
        return values

    def _begin(self, start: Start) -> None:
        """Letter and ``struct State`` of a run with these fields and parameters."""
        exchange, fields = self.exchange, start.fields
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
            self.pack(self.state, 0, *self._values(fields, start.parameters))
        if start.shared:
            self.letter = bytes(exchange.letter)
            self.like = fields

    def run(
        self, start: Start, limit: int, stands: Callable[[type], bool], meanwhile: Callable[[], Any]
    ) -> Answer | None:
        """From the first byte to the last one; ``meanwhile`` and, where nobody sees anything of the run yet,
        ``stands`` are called while the block is at work. None, and nothing seen, where it does not stand."""
        if self.away and not stands(start.cls):
            return None
        ready, exchange, words = self.ready, self.exchange, self.words
        space, stream = ready.space or ready.take_space(start.graph), self.current_stream().ptr
        ready.space = None
        if stream != self.stream:
            self.stream, self.begin = stream, self.launch.on(stream)
        self.space[:] = space.struct
        if start.fields is self.like:
            exchange.letter[:] = self.letter
        else:
            self._begin(start)
        for name, values in start.first.items():
            view = self.views[name]
            for vertex in values:
                view[vertex] = values[vertex]
        words[LIMIT], words[HEAVY] = limit, space.heavy_size
        given = None if self.all_active else exchange.load(start.vertices, self.n)
        begin, wait = self.begin, self.runtime.streamSynchronize
        try:
            begin()
            if not (self.away or stands(start.cls)):
                wait(stream)
                return None
            meanwhile()
            answer, program, nanoseconds = Answer(exchange.places, exchange.trace_at), start.made, 0
            flags, finished = self.finished
            wait(stream)
            while True:
                if words[ROWS] > FIRST_ROWS:
                    exchange.bring_rows(stream)
                nanoseconds += self.took[0]
                active = 0 if flags[finished] else words[FRONTIER]
                if not active or words[ITERATION] >= limit:
                    break
                answer.earlier.append(self.trace[: words[ROWS]].copy())
                exchange.go_on()
                words[ROWS] = 0
                begin()
                wait(stream)
        except BaseException:  # the device writes where the next run begins
            with suppress(self.runtime.CUDARuntimeError):  # which is on its way already
                wait(stream)
            raise
        del given
        answer.data, answer.rows = exchange.answer(), words[ROWS]
        answer.iterations, answer.active, answer.nanoseconds = words[ITERATION], active, nanoseconds
        if program is not None:
            self._give(program._fields, answer)
        answer.frontier, answer.touched = NOBODY, space.touched() if self.tracks else None
        if active and not self.all_active:
            answer.frontier = space.active()
        elif self.keeps:
            ready.space = space
        return answer

    def _give(self, fields: Fields, answer: Answer) -> None:
        """What was written to where a program has it; where nobody has looked at it, that is the answer."""
        made = fields.made
        for name, array in self.written.items():
            if name in made:
                np.copyto(made[name], array)
            else:
                fields.leave(name, Answered(answer, name))
