"""``python -m gpop.tune graph...``: measure the modes on your graphs and machine, learn which is best when.

Breadth-first searches from random vertices run in every mode, and by auto, in turn until the time is over. A
decision tree learns from features of graph and iteration which mode is the fastest, or that auto is
(`gpop.learn`); what it would gain over auto is told for steps that it was not trained on and, of several
graphs, for graphs that it was not trained on. The tree of all steps is kept for this machine:
``mode="tree"`` takes it, and where it was better than auto in what is told, auto does too, for programs with
such messages. Training needs scikit-learn (``pip install "gpop[tree]"``), running does not.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gpop
from gpop.common.command import (
    Parser,
    add_json_option,
    add_reading_options,
    exit_code,
    file_to_write,
    print_json,
    prog,
    reading_options,
)
from gpop.common.errors import UsageError
from gpop.common.machine import machine_name
from gpop.common.parallel import use_threads
from gpop.common.progress import by_default, progress_bar
from gpop.graph.graph import Graph
from gpop.learn.evaluate import Line, evaluate, table
from gpop.learn.steps import Steps
from gpop.learn.train import scikit_learn, train
from gpop.learn.validate import HeldOut, held_out_groups, held_out_steps
from gpop.model.choosers import DEFAULT_RATIO
from gpop.model.features import OF_RUN
from gpop.model.strategies import MODES
from gpop.model.trees import Tree, write_tree
from gpop.plan.tree_for import BETTER, keep_tree

ROOTS = 4
"""Random vertices that searches begin from, on each graph."""

SEED = 1
WAYS = {mode.name: {"mode": mode.name} for mode in MODES} | {"auto": {"ratio": DEFAULT_RATIO}}
"""Options of each way; whoever gives a ratio gets the analytical auto, also where a tree is kept."""


class Measured(NamedTuple):
    """Steps, the features of the program (`OF_RUN`), how often each was measured, and for how long."""

    steps: Steps
    of_run: tuple[int, int, int]
    rounds: int
    seconds: float


class Tuned(NamedTuple):
    """A tree of all steps, and how trees did on steps, and graphs, that they were not trained on."""

    tree: Tree
    steps: HeldOut
    graphs: HeldOut | None
    better: bool


def measure(graphs: Sequence[Graph], seconds: float, threads: int | None = None) -> Measured:
    """Search from random vertices in every mode in turn, for so many seconds and at least once.

    Examples
    --------
    >>> from gpop.generate import generate
    >>> found = measure([generate("rmat", scale=6)], seconds=0)
    >>> found.rounds, found.steps.strategies
    (1, ('sc', 'pc', 'pull'))
    """
    rng = np.random.default_rng(SEED)
    variants = []
    for graph in graphs:
        senders = np.flatnonzero(graph.out_degree)
        if not senders.size:
            raise UsageError(f"{graph!r} has no edges: expected a graph to search")
        variants += [(graph, int(root)) for root in rng.choice(senders, min(ROOTS, senders.size), False)]
    times: dict[tuple[int, str], list[np.ndarray]] = defaultdict(list)
    traces = {}
    with progress_bar(int(seconds), "measuring", " s", by_default()) as bar:
        for graph, root in variants:  # compiles, and finds layouts
            for options in WAYS.values():
                gpop.bfs(graph, root, method="messages", threads=threads, **options)
        begin, rounds, shown = time.perf_counter(), 0, 0
        while not rounds or time.perf_counter() - begin < seconds:
            for number, (graph, root) in enumerate(variants):
                for way, options in WAYS.items():
                    trace = gpop.bfs(graph, root, method="messages", threads=threads, **options).trace
                    took = trace.column("scatter_seconds") + trace.column("gather_seconds")
                    times[number, way].append(took)
                    traces[number] = trace
            rounds += 1
            now = min(int(time.perf_counter() - begin), int(seconds))
            bar.update(now - shown)
            shown = now
    found: dict[str, list[Any]] = defaultdict(list)
    for number, (graph, _) in enumerate(variants):
        steps = len(traces[number])
        found["features"] += [np.column_stack([*traces[number].features(graph).values()])]
        place = next(i for i, each in enumerate(graphs) if each is graph)
        for name, value in {"graph": place, "variant": number, "family": graph.name}.items():
            found[name] += [value] * steps
        found["step"] += range(steps)
        for way in WAYS:
            found[way] += np.median(times[number, way], axis=0).tolist()
    ids = (np.array(found[name]) for name in ("graph", "variant", "step", "family"))
    modes = tuple(mode.name for mode in MODES)
    seconds_of = np.column_stack([found[mode] for mode in modes])
    others = {"auto": np.array(found["auto"])}
    steps = Steps(modes, np.vstack(found["features"]), seconds_of, *ids, others)
    of_run = tuple(int(traces[0].summary[name]) for name in OF_RUN)
    return Measured(steps, of_run, rounds, time.perf_counter() - begin)


def tune(measured: Measured, about: dict[str, Any] | None = None) -> Tuned:
    """Train a tree, which may leave a step to auto, and find out whether such trees are better than auto."""
    steps = measured.steps.among("auto")
    of_steps = held_out_steps(steps)
    of_graphs = held_out_groups(steps, steps.graph) if len(np.unique(steps.graph)) > 1 else None
    better = all(each.total < each.total_of("auto") for each in (of_steps, of_graphs) if each is not None)
    told = {
        "held-out steps": {"tree": of_steps.total, "auto": of_steps.total_of("auto")},
        BETTER: [[*measured.of_run]] if better else [],
    }
    if of_graphs is not None:
        told["held-out graphs"] = {"tree": of_graphs.total, "auto": of_graphs.total_of("auto")}
    return Tuned(train(steps, about={**(about or {}), **told}), of_steps, of_graphs, better)


def gain(held_out: HeldOut) -> str:
    """What a tree would gain, in words.

    Examples
    --------
    >>> from gpop.learn.steps import example
    >>> from dataclasses import replace
    >>> steps = replace(example(), others={"auto": np.array([1.0, 4, 3])})
    >>> gain(HeldOut(steps, steps.oracle))
    'the tree takes 1.00 times the time of the oracle, auto 2.00: 50 % less than auto'
    """
    tree, auto = held_out.total, held_out.total_of("auto")
    share = 100 * (tree / auto - 1)
    return (
        f"the tree takes {tree:.2f} times the time of the oracle, auto {auto:.2f}: "
        f"{abs(share):.0f} % {'less' if share < 0 else 'more'} than auto"
    )


def _run(given: argparse.Namespace) -> int:
    scikit_learn()
    threads = use_threads(given.threads)
    options = reading_options(given)
    graphs = [
        gpop.load(path, symmetrize=given.symmetrize, progress=by_default(), **options)
        for path in given.graphs
    ]
    measured = measure(graphs, given.seconds, threads)
    names = [graph.name for graph in graphs]
    about = {"machine": machine_name(), "threads": threads, "graphs": names, "gpop": gpop.__version__}
    tuned = tune(measured, about | {"rounds": measured.rounds, "seconds": measured.seconds})
    fault = keep_tree(tuned.tree)
    if given.output:
        write_tree(tuned.tree, given.output)
    if given.json:
        _print_json(given, measured, tuned, names, threads, fault)
    else:
        _print(given, measured, tuned, fault)
    return 0


def _lines(tuned: Tuned) -> list[Line]:
    return evaluate(tuned.steps.steps, predicted={"tree": tuned.steps.predicted})


def _print(given: argparse.Namespace, measured: Measured, tuned: Tuned, fault: str | None) -> None:
    steps = measured.steps
    print(
        f"measured   {len(steps)} steps of {len(steps.variants)} searches on {len(given.graphs)} graphs, "
        f"{measured.rounds} times each, in {measured.seconds:.3g} s"
    )
    print(
        f"\nTimes over the oracle's, on steps that the tree was not trained on:\n\n{table(_lines(tuned))}\n"
    )
    print(f"steps      {gain(tuned.steps)}")
    if tuned.graphs is not None:
        print(f"graphs     {gain(tuned.graphs)}")
    taken = "auto takes it, too" if tuned.better else "auto stays analytical: the tree was not better"
    kept = f"kept       {len(tuned.tree.left)} nodes for this machine: mode tree; {taken}"
    print(kept if fault is None else f"not kept   {fault}")
    if given.output:
        print(f"written    {given.output}")


def _print_json(
    given: argparse.Namespace,
    measured: Measured,
    tuned: Tuned,
    names: list[str],
    threads: int,
    fault: str | None,
) -> None:
    told = {name: tuned.tree.about.get(f"held-out {name}") for name in ("steps", "graphs")}
    print_json(
        "tune",
        {
            "graphs": names,
            "threads": threads,
            "steps": len(measured.steps),
            "rounds": measured.rounds,
            "seconds": measured.seconds,
            "held_out": told,
            "rows": [line._asdict() for line in _lines(tuned)],
            "nodes": len(tuned.tree.left),
            "taken_by_auto": tuned.better and fault is None,
            "not_kept": fault,
            "output": given.output,
        },
    )


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog=prog("gpop.tune"), description=__doc__)
    parser.add_argument("graphs", nargs="+", type=Path, metavar="graph", help="graph file (see gpop.load)")
    add_reading_options(parser)
    parser.add_argument("--symmetrize", action="store_true", help="add the opposite of every edge")
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="to measure for (default %(default)g)"
    )
    parser.add_argument("--threads", type=int, help="CPU threads; default: all cores")
    parser.add_argument("--output", type=file_to_write(), metavar="FILE", help="write the tree there, too")
    add_json_option(parser)
    given = parser.parse_args(argv)
    if not given.seconds >= 0:
        parser.error(f"--seconds {given.seconds:g}: expected a number from 0 on")
    return given


def main(argv: list[str] | None = None) -> int:
    """``python -m gpop.tune graph... [--seconds S]``; returns the exit code."""
    return exit_code(lambda: _run(_parse(argv)))


if __name__ == "__main__":
    raise SystemExit(main())
