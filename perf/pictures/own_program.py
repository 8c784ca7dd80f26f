"""Figures of programs of one's own: ``python -m perf figures --program FILE.py:CLASS``.

For each program the time in every mode on the graphs of the plan, one iteration after the other on the
largest RMAT, and L2 misses by the simulator on a small one whose vertex data do not fit. Runs of the modes
take turns, and their answers are compared (`gpop.compare`): no figure is drawn of runs that differ. What was
measured is kept until the program's file changes.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np

from gpop.common.errors import GpopError
from gpop.common.replacing import replacing
from gpop.compare import differs
from perf import l2
from perf.algorithms import digest, of_program
from perf.cache_simulator import Geometry
from perf.graphs import name_of, open_graph
from perf.l2_simulator import misses_of
from perf.pictures.plan import MAIN
from perf.pictures.study import Study, called, legend_below, panels, plain_log, whole_numbers

MODES = ("sc", "pc", "auto", "pull")
COLOURS = dict(zip(MODES, ("#d95f02", "#1b9e77", "#3953a4", "#888888"), strict=True))
MISSES_GRAPH = "rmat:scale=12,degree=16"
L1, L2 = Geometry(1 << 12, 8), Geometry(1 << 14, 8)
"""Of the simulation: so small that the vertices of `MISSES_GRAPH` do not fit, as those of large graphs do
not fit the machine's."""


def measure(program: str, spec: str, threads: int, repeats: int) -> dict[str, Any]:
    """Mode -> seconds of every run, and seconds and bytes of the iterations of the last one."""
    algorithm = of_program(program)
    graph = algorithm.graph(open_graph(spec))
    flags = next(iter(algorithm.variants.values()))
    found: dict[str, Any] = {mode: {"seconds": []} for mode in MODES}
    right = None
    for turn in range(repeats + 1):
        for mode in MODES:
            result = algorithm.call(graph, flags, {"mode": mode, "threads": threads})
            answer = algorithm.answer(graph, result)
            right = answer.copy() if right is None else right
            if differs(answer, right):
                raise GpopError(f"{program} on {spec}: mode {mode} gives another answer than {MODES[0]}")
            if turn:
                found[mode]["seconds"].append(result.run.seconds)
                trace = result.trace
                each = trace.column("scatter_seconds") + trace.column("gather_seconds")
                found[mode] |= {"each": each.tolist(), "bytes": trace.column("bytes").tolist()}
    return found


def misses(program: str) -> dict[str, float]:
    """Mode -> simulated L2 misses for each edge."""
    work = l2.workload("", open_graph(MISSES_GRAPH), "max-degree", L2, None, program)
    modes = {mode: "gpop-pull" if mode == "pull" else mode for mode in MODES}
    length = 3 if of_program(program).all_active else None
    return {mode: sum(misses_of(work, name, length, L1, L2)) / work.graph.m for mode, name in modes.items()}


def draw_all(study: Study, programs: list[str]) -> None:
    """Measure what is not kept, draw it, and write the index."""
    lines = ["# Programs of your own, measured here", ""]
    for program in programs:
        name = of_program(program).name
        times, cached = _measured(study, program)
        study.files = []
        _draw_times(study, name, times)
        _draw_iterations(study, name, times)
        _draw_misses(study, name, cached)
        pictures = [f"![{file}]({file})" for file in study.files if file.endswith(".png")]
        lines += [f"## {name}", "", *pictures, "", (study.folder / f"own-{name}.md").read_text(), ""]
    with replacing(study.folder / "index.md") as temporary:
        temporary.write_text("\n".join(lines).rstrip() + "\n")


def _measured(study: Study, program: str) -> tuple[dict[str, Any], dict[str, float]]:
    """(graph -> what `measure` finds, `misses`), measured or kept."""
    plan, name = study.plan, of_program(program).name
    key = {"program": program, "digest": digest(program)}
    how = key | {"threads": plan.most_threads, "repeats": plan.repeats}
    times = {}
    for spec in plan.graphs[MAIN]:
        work = partial(measure, program, spec, plan.most_threads, plan.repeats)
        times[spec] = study.measured(f"{name}-{name_of(spec)}", how | {"graph": spec}, work)
    return times, study.measured(f"{name}-misses", key, partial(misses, program), anywhere=True)


def _draw_times(study: Study, name: str, times: dict[str, Any]) -> None:
    figure, grid = panels(len(times))
    rows = []
    for axes, (spec, found) in zip(grid[0], times.items(), strict=True):
        for place, mode in enumerate(MODES):
            seconds = 1e3 * np.array(found[mode]["seconds"])
            middle = float(statistics.median(seconds))
            error = [[middle - seconds.min()], [seconds.max() - middle]]
            axes.bar(place, middle, yerr=error, color=COLOURS[mode], capsize=3)
            moved = sum(found[mode]["bytes"]) / 1e6
            rows.append([name_of(spec), mode, middle, len(found[mode]["each"]), moved])
        axes.set_xticks(range(len(MODES)), MODES)
        axes.set(title=called(name_of(spec)), ylabel="ms")
    study.name, study.title = f"own-{name}-times", f"{name}: time in each mode"
    study.save(figure)
    study.name = f"own-{name}"
    study.save_table(["graph", "mode", "ms", "iterations", "MB by the model"], rows)


def _draw_iterations(study: Study, name: str, times: dict[str, Any]) -> None:
    spec = next(spec for spec in times if name_of(spec) == study.plan.main)
    figure, grid = panels(2)
    for mode in MODES:
        found = times[spec][mode]
        for axes, values in zip(grid[0], (1e3 * np.array(found["each"]), found["bytes"]), strict=True):
            axes.plot(values, color=COLOURS[mode], label=mode)
    for axes, label in zip(grid[0], ("ms", "bytes by the model"), strict=True):
        axes.set(xlabel="iteration", ylabel=label, yscale="log")
        whole_numbers(axes.xaxis)
        plain_log(axes.yaxis)
    legend_below(figure, grid[0][0])
    study.name, study.title = f"own-{name}-iterations", f"{name}: iterations"
    study.save(figure, called(name_of(spec)))


def _draw_misses(study: Study, name: str, found: dict[str, float]) -> None:
    figure, grid = panels(1)
    axes = grid[0][0]
    axes.bar(range(len(MODES)), [found[mode] for mode in MODES], color=[COLOURS[mode] for mode in MODES])
    axes.set_xticks(range(len(MODES)), MODES)
    axes.set_ylabel("L2 misses per edge, simulated")
    study.name, study.title = f"own-{name}-misses", f"{name}: cache misses"
    study.save(figure, called(name_of(MISSES_GRAPH)))
