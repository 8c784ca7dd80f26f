"""Runs gpop's engine, or a vertex-centric baseline, on the cache simulator (one thread).

Apps are called as always; while `engine_on` is in force the engine gets its own loop compiled for traced
arrays (perf/traced.py) and is stopped after every iteration, so that misses are known for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from gpop.common.inlined import KERNEL
from gpop.cpu import loop_state, specialise
from gpop.cpu.control import control_of
from gpop.cpu.loop import make_loop
from gpop.cpu.schedule import NO_SCHEDULE
from gpop.cpu.tree import NO_CHOICE
from perf import vertex_centric
from perf.cache_simulator import L2_MISSES, Geometry, make_cache
from perf.l2_workload import BASELINES, GPOP_MODES, Workload
from perf.traced import Addresses, with_tracing

NAME = "simulator"
PLAIN = 16
"""Arguments of the engine's loop before its named tuples."""

UNLIMITED_NS = 1 << 62

NO_STATE = np.empty(0, np.uint64)
"""Of a loop whose work holds the program's state itself."""


def available() -> bool:
    """Always."""
    return True


def describe() -> str:
    """For the report."""
    return "simulator (built in: two levels, LRU)"


@lru_cache
def _traced(kernel: Any, plain: int) -> Any:
    """A kernel compiled for traced arrays: once, whatever it is called on."""
    return with_tracing(kernel, plain)


class _Ways(NamedTuple):
    """What a job begins with."""

    forced: int
    ratio: float
    wire: int


@lru_cache
def _traced_loop(work: Any, all_active: bool, prioritised: bool) -> Any:
    """The engine's loop, with what a program does in its phases as a part of it."""
    take = njit(**KERNEL)(work)

    @njit(**KERNEL)
    def phase(
        phase, iteration, w, threads, size, sharers, chunk, ways, sizes, layout, incoming, space, state
    ):
        take(
            phase, iteration, w, threads, size, sharers, chunk, ways.forced, ways.ratio, sizes, layout,
            incoming, space, state, ways.wire,
        )  # fmt: skip

    @njit(**KERNEL)
    def as_it_is(control):
        return control

    @njit(**KERNEL)
    def fill_nothing(entry, w, sharers, control):
        """No run is asked for again with this loop."""

    return with_tracing(make_loop(as_it_is, phase, fill_nothing, all_active, prioritised, False), PLAIN)


def _in_iteration(state: Any, schedule: np.ndarray, iteration: int) -> Any:
    """The program's state, with the values of this iteration for parameters that have one for each
    (`gpop.cpu.schedule`)."""
    words = schedule[min(1 + iteration, len(schedule) - 1)] if len(schedule) else ()
    values = list(state)
    for place, word in zip(schedule[:1].ravel().tolist(), words, strict=True):
        dtype = np.asarray(values[place]).dtype
        values[place] = word.astype(f"u{dtype.itemsize}").view(dtype)
    return type(state)(*values)


@contextmanager
def engine_on(cache: np.ndarray) -> Iterator[list[int]]:
    """The engine runs on an empty ``cache``; the list that is yielded gets L2 misses of each iteration."""
    misses: list[int] = []
    addresses = Addresses()
    compile_loop = specialise.compile_loop

    def compile_traced(lowered: Any, traits: Any, pulled_bytes: float, job: Any, chosen: Any) -> Any:
        has = traits.all_active, "priorityFunc" in lowered.functions
        traced_loop = _traced_loop(specialise.work_of(lowered, traits), *has)
        kind = specialise.kind_of(traits)
        control = control_of(job.layout, job.space, kind, pulled_bytes, job.sizes, chosen or NO_CHOICE)
        ways, working_on = _Ways(job.forced, job.ratio, job.wire), job[2:-2]

        def traced(threads, workers, spins, ticket, limit, row_limit, slice_ns, *rest):
            progress = rest[4]
            done = progress[loop_state.ITERATION]
            state = _in_iteration(job.state, traced.schedule, int(done))
            over = traced_loop(
                cache, addresses, threads, workers, spins, ticket, limit, 1, UNLIMITED_NS, *rest,
                NO_STATE, NO_SCHEDULE, control, ways, *working_on, state,
            )  # fmt: skip
            if progress[loop_state.ITERATION] > done:
                misses.append(int(cache[L2_MISSES]) - sum(misses))  # with entries that did no iteration
            return over

        traced.renew = lambda state: False  # it holds the arrays themselves: another state, another loop
        traced.places = {name: place for place, name in enumerate(job.state._fields)}
        traced.ready = lambda: traced
        return traced

    specialise.compile_loop = compile_traced
    try:
        yield misses
    finally:
        specialise.compile_loop = compile_loop


def _baseline_misses(work: Workload, mode: str, length: int | None, cache: np.ndarray) -> list[int]:
    """L2 misses of every iteration of a vertex-centric kernel."""
    loop = _traced(vertex_centric.LOOPS[work.app, BASELINES[mode]].py_func, 1)
    edges, vertices = work.baseline(mode)
    progress, addresses = vertices.progress, Addresses()
    misses: list[int] = []
    while progress[vertex_centric.ACTIVE] and len(misses) != length:
        before = int(cache[L2_MISSES])
        loop(cache, addresses, len(misses) + 1, edges, vertices)
        misses.append(int(cache[L2_MISSES]) - before)
    return misses


def misses_of(work: Workload, mode: str, length: int | None, l1: Geometry, l2: Geometry) -> list[int]:
    """L2 misses of every iteration, from an empty cache."""
    cache = make_cache(l1, l2)
    if mode not in GPOP_MODES:
        return _baseline_misses(work, mode, length, cache)
    with engine_on(cache) as misses:
        work.run(mode, length)
    return misses


def measure(
    work: Workload, modes: list[str], lengths: tuple[int, int | None], l1: Geometry, l2: Geometry
) -> dict[str, tuple[int, int, list[int]]]:
    """Mode -> iterations between the two lengths, their misses, and those of each."""
    found = {}
    for mode in modes:
        each = misses_of(work, mode, lengths[1], l1, l2)[lengths[0] :]
        found[mode] = (len(each), sum(each), each)
    return found
