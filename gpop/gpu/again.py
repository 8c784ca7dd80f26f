"""An engine that rests with its graph between runs, for runs that are asked for like the one it was made for.

What is found by one look-up is what the next run begins with (`gpop.execution.again`). Where one block of
threads does a run that is nearly all of it (`gpop.gpu.one_block`). Other runs go the way of all, but for what
is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpop.gpu.answer import Answer
from gpop.gpu.device import cupy
from gpop.gpu.engine import GpuEngine
from gpop.gpu.left import OnDevice
from gpop.gpu.one_block import OneBlock
from gpop.plan.engine import Left
from gpop.plan.plan import Plan
from gpop.program.start import Start

SAME = ("exchange", "control", "fields", "known")
"""Attributes of an engine that are the same for runs alike."""


def nothing() -> None:
    """What there is to do meanwhile where results are made of a program."""


class RestingEngine(GpuEngine):
    """An engine of one run or, between them, of many."""

    def __init__(self, plan: Plan, push: int | None = None) -> None:
        super().__init__(plan, push)
        self.alike: dict[frozenset[str], OneBlock | dict[str, Any]] = {}
        """What there is of runs of whose fields these are arrays of the device."""

    def rest(self) -> bool:
        """Let go of the graph and the program; False where the next run may be prepared otherwise."""
        if self.push is not None or self.link is not None:
            return False
        self.device, self.names = cupy().cuda.runtime.getDevice(), frozenset(self.lowered.fields)
        self.has_all = len(self.names) == len(self.program._fields)
        """Whether no field is left out, which no function touches: it is where a program has it."""
        self._alike(self.names & self.program._fields.away)
        self._let_go()
        return True

    def again(
        self, start: Start, limit: int, stands: Callable[[type], bool], meanwhile: Callable[..., Any]
    ) -> Left | Answer | None:
        """A run of the class on the same graph; None on another device."""
        ready, module = self.ready, cupy()
        if module is not ready.made_with or module.cuda.runtime.getDevice() != self.device:
            return None
        away = self.names & start.fields.away
        alike = self.alike.get(away)
        if type(alike) is OneBlock:
            if self.has_all or not start.shared:
                return alike.run(start, limit, stands, meanwhile)
            return alike.run(start.of_program(), limit, stands, nothing)
        left = (isinstance(recipe, OnDevice) for recipe in start.fields.recipes.values())
        seen = bool(away or start.fields.made) or any(left)  # arrays that the run writes are somebody's
        if seen and not stands(start.cls):
            return None
        self.program, self.limit, self.milliseconds = start.program, limit, 0.0
        try:
            if alike is None:
                self._work_with(ready)
                alike = self._alike(away)
                if type(alike) is OneBlock:
                    ready.keep_space(self.space)
                    return alike.run(start.of_program(), limit, stands, nothing)
            else:
                vars(self).update(alike)
                self.fields.forget()  # an interrupt may have come before that of the last run
                self.fields.program, self.space = start.program, ready.take_space(start.graph)
                ready.give(self.space, self.exchange)
            self.load(start.sources, self.most_rows)
            self._begin(self._launch_of_now())
            if not (seen or stands(start.cls)):
                self._end()
                return None
            self.fields.expect(self.lowered.written)
            meanwhile(program=self.program)
            self._end()
            records = [self._records().copy()]
            while (active := self.active) and self.iteration < limit:
                records.append(self.iterate().copy())
            frontier, touched = self._leave()
            return Left(records, 1e-3 * self.milliseconds, self.iteration, active, frontier, touched)
        except BaseException:
            self.abandon()
            raise
        finally:
            self._let_go()

    def _alike(self, away: frozenset[str]) -> OneBlock | dict[str, Any]:
        """What the next run like this one finds."""
        found: OneBlock | dict[str, Any] = {name: vars(self)[name] for name in SAME}
        if self.ready.in_one and len(self.exchange.fields) + len(away) == len(self.fields.names):
            found = OneBlock(self, away)
        self.alike[away] = found
        return found

    def _let_go(self) -> None:
        """Of what leads to the graph, and of arrays whose room somebody else may want."""
        self.fields.forget()
        for name in ("program", "plan", "space", "given"):
            vars(self).pop(name, None)
