"""``python -m perf model-study``: eq. (1), auto, trees, the best fixed strategy and the oracle on the log.

    python -m perf model-study perf/results/steps/*.xz     # or stores; all algorithms and platforms there

Times over the oracle's, from measured steps, nothing is run. Trees are only asked about what they
have not seen: *steps held out* are five folds of all steps, *graphs held out* and *families held out* a tree
for each graph, and for each dataset, that was trained without it. ``paper`` is eq. (1) as it stands,
``auto`` the engine's own model; *tree or auto* may leave a step to it. A tree that was run (``mix``,
perf/steps_log.sh) is beside what the log foretells for it. Then what a tree looks at, and what steps weigh
that it is trained on; training sizes (`perf.model_sizes`); trees of one data set, of one family of graphs,
and of one device, on the others (`perf.model_transfer`); importances of features; and what follows from the
numbers, in words. Where every vertex is always active (PageRank) a run is one step, and the best strategy
over all stands for the best fixed one.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np

from gpop.common.by_reference import opener, reference_of
from gpop.common.command import exit_code, file_to_write
from gpop.common.inlined import KERNEL
from gpop.cpu.tree import walk
from gpop.graph.graph import Graph
from gpop.learn.evaluate import BEST_FIXED, Line, evaluate, table
from gpop.learn.split import Split
from gpop.learn.steps import Steps
from gpop.learn.train import LEAVES, RELATIVE, train
from gpop.learn.validate import held_out_groups
from gpop.model.features import FEATURES, OF_DEGREES
from gpop.model.trees import Tree, text_of
from gpop.plan.chosen import chosen_of
from perf import model_sizes
from perf.algorithms import ALGORITHMS
from perf.model import told
from perf.model_transfer import (
    EQUAL,
    across_devices,
    across_families,
    across_sets,
    device_of,
    markdown,
    rival_of,
)  # fmt: skip
from perf.parser import documented
from perf.provenance import perf_command, written
from perf.steps import Log, Which
from perf.steps_file import logs_of
from perf.store import DEFAULT_PATH

FOLDS = 5
ROUNDS, DECISIONS = 9, 100_000
"""Of timing a decision."""

MIX, PREDICTED = "-mix", "tree of 70 % of the steps"
"""How a log calls the runs of the tree of `Split()` (perf/steps_log.sh); what the log says that they take."""

WITH_DEGREES = tuple(dict.fromkeys((*RELATIVE, *OF_DEGREES)))

STEPS, GRAPHS, FAMILIES = (f"{what} held out" for what in ("steps", "graphs", "families"))
TREE, OR_AUTO = "tree", "tree or auto"
AIMS = {STEPS: 1.15, GRAPHS: 1.3}
"""What trees should stay below."""

SMALL = 64 << 10
"""Bytes of a tree that may come with gpop."""


def folds(steps: Steps, seed: int = 1) -> np.ndarray:
    """The fold of every step, all of about the same size."""
    return np.random.default_rng(seed).permutation(len(steps)) % FOLDS


def held_out(steps: Steps, **options: Any) -> dict[str, np.ndarray]:
    """Seconds of every step under trees that had not seen it, or its graph, or its family."""
    groups = {STEPS: folds(steps), GRAPHS: steps.graph, FAMILIES: steps.family}
    kinds = {TREE: steps} | ({OR_AUTO: steps.among("auto")} if "auto" in steps.others else {})
    return {
        f"{kind}, {name}": held_out_groups(among, each, **options).predicted
        for kind, among in kinds.items()
        for name, each in groups.items()
    }


def ways_to_train(steps: Steps, **options: Any) -> str:
    """Totals of trees by what they look at, and by what the steps weigh that they are trained on."""
    rows = [("looks at, steps weigh", STEPS, GRAPHS, FAMILIES)]
    ways = {"shares": RELATIVE, "shares and degrees": WITH_DEGREES, "all features": FEATURES}
    for looks, features in ways.items():
        for weighs, weighted in {"what they cost": True, "the same": False}.items():
            given = options | {"features": features, "weighted": weighted}
            found = held_out(replace(steps, others={}), **given)
            totals = (found[f"{TREE}, {name}"].sum() / steps.oracle.sum() for name in rows[0][1:])
            rows.append((f"{looks}, {weighs}", *(f"{total:.2f}" for total in totals)))
    return markdown(rows)


def by_family(steps: Steps, predicted: dict[str, np.ndarray]) -> str:
    """A row for each family: totals of what switches, and of the best fixed strategy of each variant."""
    names = (*predicted, *steps.others, BEST_FIXED)
    rows = [("family", "variants", *names)]
    for family in np.unique(steps.family):
        inside = steps.family == family
        part = steps.where(inside)
        lines = evaluate(part, predicted={name: each[inside] for name, each in predicted.items()})
        totals = {line.name: line.total for line in lines}
        rows.append((str(family), str(len(part.variants)), *(f"{totals[name]:.2f}" for name in names)))
    return markdown(rows)


def importances(tree: Tree) -> str:
    """The features that a tree looks at, the most important first."""
    found = sorted(zip(tree.importances, tree.features, strict=True), reverse=True)
    return markdown([("feature", "importance"), *((name, f"{weight:.3f}") for weight, name in found)])


def verdict(lines: dict[str, Line], size: int, fixed: tuple[str, float]) -> list[str]:
    """What follows from the totals, in sentences; ``size`` is that of a tree, in bytes.

    ``fixed``: the best that does not switch, and its total.
    """
    said = []
    for name, aim in AIMS.items():
        total = lines[f"{TREE}, {name}"].total
        said.append(
            f"A tree, {name}: {total:.2f} of the oracle's time, {'' if total <= aim else 'not '}within {aim}."
        )
    rivals = {name: lines[name].total for name in ("auto", "paper") if name in lines} | dict([fixed])
    kinds = [kind for kind in (TREE, OR_AUTO) if f"{kind}, {STEPS}" in lines]
    for name in (f"{kind}, {what}" for kind in kinds for what in (STEPS, GRAPHS, FAMILIES)):
        worse = [rival for rival, total in rivals.items() if lines[name].total > total * EQUAL]
        beside = "above" if worse else "not above"
        told = " and ".join(f"{rival} ({rivals[rival]:.2f})" for rival in worse or rivals)
        said.append(f"{name} ({lines[name].total:.2f}): {beside} {told}.")
    if "auto" in lines:
        unseen = {kind: max(lines[f"{kind}, {what}"].total for what in (GRAPHS, FAMILIES)) for kind in kinds}
        kind = min(unseen, key=unseen.__getitem__)
        ratio = unseen[kind] / lines["auto"].total
        said.append(
            f"On graphs and families that it has not seen the better kind, {kind}, takes {ratio:.2f} times "
            "the time of auto: "
            + (
                "worth a run, which the log does not stand for."
                if ratio < 1 and size < SMALL
                else "auto stays analytical."
            )
        )
    return said


def mix_and_match(steps: Steps, **options: Any) -> tuple[dict[str, np.ndarray], list[str]]:
    """What the tree of a split takes by the log, on all steps, and a sentence where it was run, too."""
    run = next((name for name in steps.others if name.endswith(MIX)), None)
    if run is None:
        return {}, []
    predicted = steps.predicted(train(steps.where(Split().of(steps)), **options))
    foretold, took = (float(each.sum() / steps.oracle.sum()) for each in (predicted, steps.others[run]))
    name, bar = rival_of(steps)
    said = (
        f"Run for real ({run}), the {PREDICTED} takes {took:.2f} of the oracle's time; the log foretells "
        f"{foretold:.2f} for it. It is {'' if took < bar else 'not '}better than {name} ({bar:.2f})"
    )
    if "auto" in steps.others:
        auto = float(steps.others["auto"].sum() / steps.oracle.sum())
        said += f", and {'' if took < auto else 'not '}better than auto ({auto:.2f})"
    return {PREDICTED: predicted}, [f"{said}."]


def decision_seconds(tree: Tree, steps: Steps) -> float:
    """Median seconds of a decision in a compiled loop over these steps."""
    chosen = chosen_of(tree, Graph.from_edges([0], [0]), (0, 0), lambda mode: True)
    reference = reference_of(chosen)
    opened = opener(reference.kind)
    columns = [steps.features[:, FEATURES.index(name)].copy() for name in ("frontier abs", "edges abs")]

    @numba.njit(**KERNEL)
    def decide(address, times, frontier, edges):
        tree, sum_of = opened(address), 0
        for i in range(times):
            j = i % frontier.size
            sum_of += walk(tree, 1e6, 1e7, frontier[j], edges[j], np.float64(i))
        return sum_of

    decide(reference.address, 1, *columns)
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        decide(reference.address, DECISIONS, *columns)
        seconds.append((time.perf_counter() - begin) / DECISIONS)
    return float(np.median(seconds))


def section(log: Log, **options: Any) -> str:
    """What one log says."""
    steps = log.steps
    predicted = held_out(steps, **options)
    foretold, run_for_real = mix_and_match(steps, **options)
    lines = evaluate(steps, predicted=predicted | foretold)
    by_name = {line.name: line for line in lines}
    tree, sizes = train(steps, **options), model_sizes.training_sizes(steps, **options)
    sets = across_sets(log, **options)
    across = [] if sets is None else ["Totals of trees of one data set, on the other:", *sets]
    size, seconds = len(text_of(tree)), decision_seconds(tree, steps)
    parts = [
        f"## {ALGORITHMS[log.algorithm].title}, {device_of(log)}",
        told(log),
        table(lines),
        "\n".join([*verdict(by_name, size, rival_of(steps)), *run_for_real]),
        "Totals by what a tree looks at, and what the steps weigh that it is trained on:",
        ways_to_train(steps, **options),
        "Totals by family:",
        by_family(steps, predicted),
        "Totals of trees of a share of the log, on what they were not trained on / on the whole log:",
        model_sizes.table(sizes),
        "\n".join(model_sizes.sentences(sizes, steps)),
        *across,
        "Totals of trees of one family:",
        across_families(steps, **options),
        f"The tree of all steps has {len(tree.left)} nodes, {size} bytes; a decision takes "
        f"{1e9 * seconds:.0f} ns on this CPU. Importance of what it looks at:",
        importances(tree),
    ]
    return "\n\n".join(parts)


def report(logs: list[Log], **options: Any) -> str:
    """The whole study: a section for each log, and one for logs that differ in their device alone."""
    parts = [section(log, **options) for log in logs]
    alike: dict[str, list[Log]] = defaultdict(list)
    for log in logs:
        alike[log.algorithm].append(log)
    for name, found in alike.items():
        if len(found) > 1:
            rows, said = across_devices(found, **options)
            parts += [f"## {ALGORITHMS[name].title}, trees of one log on the others", rows, said]
    return "\n\n".join(parts)


def _run(argv: list[str]) -> None:
    parser = documented("model-study", __doc__)
    parser.add_argument(
        "logs", type=Path, nargs="*", default=[DEFAULT_PATH], metavar="LOG",
        help="stores, and files of perf steps (default: perf.db)",
    )  # fmt: skip
    parser.add_argument("--app", choices=ALGORITHMS, help="default: all that were measured")
    parser.add_argument("--target", help="default: all")
    parser.add_argument("--platform", help="default: all")
    parser.add_argument("--threads", type=int, help="default: all")
    parser.add_argument("--leaves", type=int, default=LEAVES, help="at most so many (default %(default)s)")
    parser.add_argument("--unweighted", action="store_true", help="all steps weigh the same")
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write it there, too")
    given = parser.parse_args(argv)
    which = Which(given.app, given.target, given.platform, given.threads)
    logs = logs_of(given.logs, which)
    with written(given.out, perf_command("model-study", argv)):
        print(report(logs, leaves=given.leaves, weighted=not given.unweighted))


def main(argv: list[str]) -> int:
    """Print the study; returns the exit code."""
    return exit_code(lambda: _run(argv))
