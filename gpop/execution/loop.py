"""THE loop over iterations, for every target: prepare, load, iterate until nothing is active, finish.

An engine iterates by itself until it is over, a callback wants to see an iteration, or its time slice has
passed: then progress is shown and Ctrl-C gets through. Where something sits between the halves of an
iteration (`between`), the engine stops there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gpop.common.progress import IterationBar, telling
from gpop.execution.again import keep
from gpop.execution.checkpoint import Keeper
from gpop.graph.exclusive import call_back, exclusive
from gpop.model.features import OF_RUN
from gpop.plan.engine import Engine, Finished
from gpop.plan.plan import UNLIMITED, Plan
from gpop.plan.trace import Trace
from gpop.program.program import Program
from gpop.ranks.world import World


def engine_for(
    target: str, plan: Plan, world: World | None = None, gather: bool = False, residency: str = "auto"
) -> Engine:
    """The target's engine; imported when it is first asked for. ``world``: where there are other ranks."""
    if world is not None and target == "gpu":
        from gpop.ranks.gpu_engine import GpuRankEngine

        return GpuRankEngine(plan, world, gather)
    if world is not None:
        from gpop.ranks.engine import RankEngine

        return RankEngine(plan, world, gather)
    if target == "gpu":
        from gpop.gpu.again import RestingEngine as RestingGpuEngine

        return RestingGpuEngine(plan)
    if target == "python":
        from gpop.reference import PythonEngine

        return PythonEngine(plan)
    from gpop.cpu.again import RestingEngine

    return RestingEngine(plan, residency)


def settled_of(program: Program) -> Callable[[], bool] | None:
    """Whether the changes of an iteration are less than the program wants; None where it does not say."""
    if program.settles is None:
        return None
    field, tolerance = program.settles
    return lambda: bool(getattr(program, field).sum(dtype=np.float64) < getattr(program, tolerance))


def _set_series(program: Program, iteration: int) -> None:
    """Set the parameters that have a value for each iteration, for an engine that does not do so itself."""
    for name, values in program._series.items():
        program._parameters[name] = values[min(iteration, len(values) - 1)]


def carry_out(
    plan: Plan,
    engine: Engine,
    sources: np.ndarray | None,
    *,
    progress: bool = False,
    callback: Callable[[dict[str, Any]], bool | None] | None = None,
    between: Callable[[Engine], None] | None = None,
    keeper: Keeper | None = None,
    asked: Hashable = None,
) -> tuple[Trace, Finished, int, bool]:
    """One run; returns its trace, what is left, the number of iterations, and whether nothing is active.

    ``between`` is called with the engine between the scatter and the gather of every iteration; ``keeper``
    writes checkpoints, and has what an earlier run has left. ``asked``: what runs have in common that the
    engine may do afterwards (`gpop.execution.again`).
    """
    graph, limit, name = plan.program.graph, plan.limit, type(plan.program).__name__
    own_series = not engine.schedules  # parameters set here, before each iteration
    bar = None
    with exclusive(graph):
        try:
            series = own_series and bool(plan.program._series)
            settled = None if engine.settles else settled_of(plan.program)
            watched, over = callback or settled or series, False
            most = 1 if watched else engine.most_rows
            with telling(name, progress):
                said = engine.prepare()
                left = keeper.left(engine.range, limit) if keeper else None
                if own_series:
                    _set_series(plan.program, left.iteration if left else 0)
                if left is None:
                    engine.load(sources, most)
                else:
                    engine.load(left.frontier, most, left.iteration)
                    engine.refresh()  # parameters that a callback had set
            if progress:
                bar = IterationBar(None if limit == UNLIMITED else limit, name)
            said = _summary(plan, engine) | said
            trace = Trace({**said}, left.iteration if left else 0)
            while engine.active and engine.iteration < limit:
                if keeper:
                    engine.rows = min(most, keeper.rows(engine.iteration) or most)
                if between is None:
                    records = engine.iterate()
                else:
                    engine.scatter()
                    between(engine)
                    records = engine.gather()
                trace.extend(records)
                if bar:
                    bar.show(engine.iteration, engine.active)
                if watched and len(records):
                    engine.publish()
                    over = settled is not None and settled()
                    if (callback and call_back(callback, trace[-1], graph)) or over:
                        break
                    if own_series:
                        _set_series(plan.program, engine.iteration)
                    engine.refresh()
                if keeper and engine.active and keeper.due(engine.iteration):
                    keeper.write(engine, engine.iteration)
            if keeper:
                keeper.remove()
            over = over or engine.active == 0
            finished = engine.finish()
            if own_series:
                _set_series(plan.program, 0)
            late = {"mode": finished.mode}  # a run that has tried another way may end in it
            if finished.choice is not None:
                late["choice"] = finished.choice
            trace.summary.update(late)
            done = trace, finished, engine.iteration, over
            if asked is not None:
                keep(asked, plan, engine, finished, said | late)
            return done
        except BaseException:
            if own_series:  # first: nothing that it does can go wrong
                _set_series(plan.program, 0)
            engine.abandon()
            raise
        finally:
            if bar:
                bar.close()


def _summary(plan: Plan, engine: Engine) -> dict[str, Any]:
    """What a trace says of any run."""
    program = plan.program
    return {
        "program": type(program).__name__,
        "graph": program.graph.name,
        "mode": engine.mode,
        "model": plan.model.name,
        **dict(zip(OF_RUN, plan.of_run, strict=True)),
    }
