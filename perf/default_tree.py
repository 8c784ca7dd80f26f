"""``python -m perf default-tree``: the tree of a target that comes with gpop, from logs of its algorithms.

    python -m perf default-tree perf/results/steps/*-cpu-*.xz --out gpop/learn/trees/cpu.json
    python -m perf default-tree perf/results/steps/*-gpu-*.xz --out gpop/learn/trees/gpu.json

``mode="tree"`` takes it where no tree is kept for the machine. One tree serves all algorithms: whether
vertices may pull, and the bytes of weights, are features. Of the strategies of a log those count that a run
can take by a tree: those by name only where every vertex is always active. The table has times over the
oracle's of trees that had not seen the steps, the graphs, or the families; for each algorithm, and for all
together.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.common.command import exit_code, file_to_write
from gpop.common.errors import UsageError
from gpop.learn.evaluate import BEST_FIXED
from gpop.learn.steps import Steps
from gpop.learn.train import train
from gpop.learn.validate import held_out_groups
from gpop.model.strategies import MODES
from gpop.model.trees import text_of, write_tree
from perf.algorithms import ALGORITHMS
from perf.joined import joined
from perf.model_study import SMALL, folds
from perf.model_transfer import markdown
from perf.parser import documented
from perf.provenance import head, perf_command
from perf.steps import Log, Which
from perf.steps_file import logs_of

ALL = "all"


def totals(steps: Steps, algorithms: np.ndarray) -> dict[str, dict[str, float]]:
    """Times over the oracle's, by what chose and by algorithm."""
    groups = {"steps": folds(steps), "graphs": steps.graph, "families": steps.family}
    seconds = {f"tree, {name} held out": held_out_groups(steps, of).predicted for name, of in groups.items()}
    found: dict[str, dict[str, float]] = {name: {} for name in (*seconds, *steps.others, BEST_FIXED)}
    for algorithm in (*np.unique(algorithms).tolist(), ALL):
        rows = algorithms == algorithm if algorithm != ALL else np.ones(len(steps), bool)
        part = steps.where(rows)
        optimum = part.oracle.sum()
        for name, each in (seconds | steps.others).items():
            found[name][algorithm] = float(each[rows].sum() / optimum)
        found[BEST_FIXED][algorithm] = float(part.best_fixed().sum() / optimum)
    return found


def _taken(log: Log) -> Steps:
    """The steps, with the strategies that a run can take by a tree."""
    if ALGORITHMS[log.algorithm].all_active:
        return log.steps
    return log.steps.only({mode.name for mode in MODES})


def _one_target(logs: list[Log]) -> str:
    targets = sorted({log.target for log in logs})
    if len(targets) > 1:
        raise UsageError(f"logs of targets {' and '.join(targets)}: expected those of one")
    return targets[0]


def _run(argv: list[str]) -> None:
    parser = documented("default-tree", __doc__)
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG", help="of perf steps, or a store")
    parser.add_argument("--out", type=file_to_write(), metavar="FILE", help="write the tree there")
    given = parser.parse_args(argv)
    logs = logs_of(given.logs, Which(None, None))
    target = _one_target(logs)
    steps, algorithms = joined([log._replace(steps=_taken(log)) for log in logs])
    found = totals(steps, algorithms)
    told = head(perf_command("default-tree", argv))
    logged = [
        {
            "algorithm": log.algorithm, "platform": log.platform, "threads": log.threads, "gpop": log.version,
            "steps": len(log.steps), "graphs": sorted({*log.graphs.values()}),
        }
        for log in logs
    ]  # fmt: skip
    rounded = {name: {of: round(total, 3) for of, total in each.items()} for name, each in found.items()}
    tree = train(
        steps, about={"head": told.splitlines(), "target": target, "logs": logged, "totals": rounded}
    )
    size = len(text_of(tree))
    if size >= SMALL:
        raise UsageError(f"the tree has {size} bytes: expected less than {SMALL}")
    columns = [*found[BEST_FIXED]]
    rows = [("over the oracle", *columns)]
    rows += [(name, *(f"{each[of]:.2f}" for of in columns)) for name, each in found.items()]
    print(told, markdown(rows), f"{len(tree.left)} nodes, {size} bytes", sep="\n\n")
    if given.out:
        write_tree(tree, given.out)


def main(argv: list[str]) -> int:
    """Train, tell, and write it; returns the exit code."""
    return exit_code(lambda: _run(argv))
