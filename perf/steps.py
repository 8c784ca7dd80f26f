"""The log of the store as `gpop.learn.steps.Steps`: what every strategy took in every measured step.

Of several versions of gpop the one that was measured last counts. Strategies are compared where they did the
same: a step that one of them lacks is left out, and so is one that they begin with other frontiers (what
goes on inside a partition is not the same in every mode). Where every vertex is always active (PageRank) all
iterations are alike, and a run is one sample, as in M. Verstraaten's thesis. The families of graphs are the
datasets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from gpop.learn.steps import Steps
from gpop.model.asked import split
from gpop.model.features import FEATURES
from gpop.model.strategies import TREE
from perf.algorithms import ALGORITHMS
from perf.store import Row, Store

LOG = """
    SELECT * FROM StepLog WHERE algorithm = :algorithm AND target = :target
        AND (:platform IS NULL OR platform = :platform) AND (:threads IS NULL OR threads = :threads)
        AND (:until IS NULL OR timestamp <= :until) ORDER BY variantId, step
"""


class Which(NamedTuple):
    """Which part of the log: an algorithm on a target; None stands for all there are."""

    algorithm: str | None = "bfs"
    target: str | None = "cpu"
    platform: str | None = None
    threads: int | None = None
    datasets: tuple[str, ...] = ()
    until: str | None = None

    def is_in(self, other: Which) -> bool:
        """Whether ``other`` asks for this, too."""
        return all(theirs in (None, ours) for ours, theirs in zip(self, other, strict=True))


class Log(NamedTuple):
    """Steps, how many were left out, where they are from (``version`` of gpop), names by id, and of what."""

    steps: Steps
    left_out: int
    version: str
    platform: str
    threads: int
    graphs: dict[int, str]
    variants: dict[int, str]
    algorithm: str
    target: str


def all_logs(store: Store, which: Which) -> list[Log]:
    """A log for each algorithm, target, platform and number of threads, of those that are asked for."""
    kind = "algorithm, target, platform, threads"
    found = store.rows(f"SELECT DISTINCT {kind} FROM StepLog ORDER BY {kind}")
    kinds = [which._replace(**dict(row)) for row in found]
    return [read_log(store, each) for each in kinds if each.is_in(which)]


def read_log(store: Store, which: Which) -> Log:
    """The steps that all strategies were measured in.

    Raises
    ------
    UsageError
        If there are none, or they are of several platforms or numbers of threads.
    """
    asked = {name: value for name, value in which._asdict().items() if name != "datasets"}
    rows = [row for row in store.rows(LOG, asked) if not which.datasets or row["dataset"] in which.datasets]
    if not rows:
        raise UsageError(
            f"{store.path}: no steps of {which.algorithm} on target {which.target}: expected those of "
            "python -m perf add strategies, run-config, and run-benchmarks"
        )
    version = max(rows, key=lambda row: row["timestamp"])["algorithmVersion"]
    rows = [row for row in rows if row["algorithmVersion"] == version]
    for name in ("platform", "threads"):
        if len(found := {row[name] for row in rows}) > 1:
            raise UsageError(f"{store.path}: steps of several {name}: expected one of {_listed(found)}")
    by_step: dict[tuple[int, int], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        by_step[row["variantId"], row["step"]][row["implementation"]] = row
    core = {row["implementation"]: row["strategy"] for row in rows if row["type"] == "Core"}
    derived = {_name(row): row["implementation"] for row in rows if row["type"] == "Derived"}
    names = sorted(core)
    kept = {key: found for key, found in by_step.items() if _complete(found, names)}
    if not kept:
        raise UsageError(f"{store.path}: no step that all of {', '.join(names)} were measured in")
    firsts = [next(iter(found.values())) for found in kept.values()]
    everywhere = {n: i for n, i in derived.items() if all(i in found for found in kept.values())}
    steps = Steps(
        tuple(core[name] for name in names),
        _features(store, firsts),
        np.array([[found[name]["seconds"] for name in names] for found in kept.values()]),
        *(np.array([row[name] for row in firsts]) for name in ("graphId", "variantId", "step", "dataset")),
        {n: np.array([found[i]["seconds"] for found in kept.values()]) for n, i in everywhere.items()},
    )
    if ALGORITHMS[which.algorithm].all_active:
        steps = whole_runs(steps)
    graphs = {row["graphId"]: row["graph"] for row in firsts}
    variants = {row["variantId"]: f"{row['graph']}, {row['variant']}" for row in firsts}
    left_out = len(by_step) - len(kept)
    where = firsts[0]["platform"], firsts[0]["threads"]
    return Log(steps, left_out, version, *where, graphs, variants, which.algorithm, which.target)


def whole_runs(steps: Steps) -> Steps:
    """A sample for each variant: its first step, with the seconds of all.

    >>> from gpop.learn.steps import example
    >>> whole_runs(example()).seconds.tolist()
    [[10.0, 7.0], [1.0, 6.0]]
    """
    others = {name: steps.per_variant(seconds) for name, seconds in steps.others.items()}
    first = steps.where(np.r_[True, steps.variant[1:] != steps.variant[:-1]])
    return replace(first, seconds=steps.per_variant(steps.seconds), others=others)


def _listed(found: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, found)))


def _name(row: Row) -> str:
    """What switches by itself, as tables call it; a tree that ran is called as it was registered."""
    if split(row["strategy"])[0] == TREE:
        return row["implementation"]
    return row["strategy"] if row["model"] == "engine" else row["model"]


def _complete(found: dict[str, Row], names: list[str]) -> bool:
    """Whether all strategies were measured in a step, from the same frontier."""
    return (
        all(name in found for name in names)
        and len({(found[name]["frontier"], found[name]["edges"]) for name in names}) == 1
    )


def _features(store: Store, rows: list[Row]) -> np.ndarray:
    """Feature vectors of these steps, from the properties of their graphs and variants."""
    of_graph: dict[int, dict[str, float]] = defaultdict(dict)
    of_step: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for row in store.rows("SELECT * FROM GraphPropValue JOIN PropertyName ON id = propId"):
        of_graph[row["graphId"]][row["property"]] = row["value"]
    for row in store.rows("SELECT * FROM StepPropValue JOIN PropertyName ON id = propId"):
        of_step[row["variantId"], row["stepId"]][row["property"]] = row["value"]
    found = np.empty((len(rows), len(FEATURES)))
    for place, row in enumerate(rows):
        known = of_graph[row["graphId"]] | of_step[row["variantId"], row["step"]]
        if missing := [name for name in FEATURES if name not in known]:
            raise UsageError(
                f"{store.path}: {row['graph']}, step {row['step']} has no {missing[0]!r}: {AGAIN}"
            )
        found[place] = [known[name] for name in FEATURES]
    return found


AGAIN = "expected features, which run-benchmarks adds when it measures with this gpop"


def described(steps: Steps) -> str:
    """How many of what there are.

    >>> from gpop.learn.steps import example
    >>> described(example())
    '3 steps of 2 variants on 2 graphs of 2 families'
    """
    counts = (len(set(each.tolist())) for each in (steps.variant, steps.graph, steps.family))
    variants, graphs, families = counts
    return f"{len(steps)} steps of {variants} variants on {graphs} graphs of {families} families"
