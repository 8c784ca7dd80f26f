"""What the store has of the papers' implementations: seconds of whole runs, and the optimum of every variant.

A variant is a graph, with a root where the algorithm has one. A run's time is that of its iterations; the
optimum takes the fastest implementation in every iteration (M. Verstraaten's thesis, section 4.3). Of several
versions of gpop the one that was measured last counts.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from perf.paper import PAPER
from perf.paper_graphs import ORDERED_FAMILY
from perf.store import Store
from perf.uncertainty import LARGE

MEASURED = """
FROM Run r JOIN RunConfig c ON c.id = r.runConfigId JOIN Algorithm a ON a.id = r.algorithmId
JOIN Platform p ON p.id = c.platformId JOIN Implementation i ON i.id = r.implId
JOIN Variant v ON v.id = r.variantId JOIN Graph g ON g.id = v.graphId JOIN Dataset d ON d.id = g.datasetId
JOIN VariantConfig vc ON vc.id = v.variantConfigId
"""
STEPS = "JOIN StepTimer t ON t.runId = r.id AND t.name = 'iteration'"
WHERE = (
    "WHERE (d.name = :ordered) = :orders AND r.validated "
    "AND a.name = :algorithm AND c.algorithmVersion = :version AND p.name = :platform "
    "AND i.name IN (SELECT value FROM json_each(:names))"
)

LATEST = (
    f"SELECT c.algorithmVersion AS version, p.name AS platform {MEASURED} WHERE a.name = :algorithm "
    "AND i.name IN (SELECT value FROM json_each(:names)) ORDER BY r.timestamp DESC LIMIT 1"
)
RUNS = (
    "SELECT r.variantId, g.id AS graphId, g.name AS graph, d.name AS family, vc.name AS variant, "
    "i.name AS implementation, sum(t.medianTime) AS seconds, count(*) AS steps, "
    "sum(CASE WHEN t.stdDev > :large * t.avgTime * sqrt(t.samples) THEN t.medianTime ELSE 0 END) AS unsure, "
    "sum(CASE WHEN t.samples = 1 THEN t.medianTime ELSE 0 END) AS once, "
    f"(SELECT medianTime FROM TotalTimer WHERE runId = r.id AND name = 'loop') AS loop {MEASURED} {STEPS} "
    f"{WHERE} GROUP BY r.id"
)
OPTIMA = (
    "SELECT variantId, implementation, sum(best) AS seconds, count(*) AS steps FROM ("
    "SELECT r.variantId AS variantId, i.name AS implementation, min(t.medianTime) AS best "
    f"{MEASURED} {STEPS} {WHERE} GROUP BY r.variantId, t.stepId) GROUP BY variantId, implementation"
)
LATE = """
SELECT i.name AS implementation, g.name AS graph, count(*) AS runs, max(t.message) AS message FROM Attempt t
JOIN RunConfig c ON c.id = t.runConfigId JOIN Platform p ON p.id = c.platformId
JOIN Algorithm a ON a.id = c.algorithmId JOIN Implementation i ON i.id = t.implId
JOIN Variant v ON v.id = t.variantId JOIN Graph g ON g.id = v.graphId
WHERE a.name = :algorithm AND c.algorithmVersion = :version AND p.name = :platform
AND i.name IN (SELECT value FROM json_each(:names)) GROUP BY i.id, g.id
"""


class Variant(NamedTuple):
    """A graph of a family, and where the run began."""

    graph: str
    family: str
    start: str
    steps: int
    graph_id: int


class PaperRuns(NamedTuple):
    """``seconds`` and ``won`` (iterations in which it was the fastest) are [implementations, variants].

    ``optimum`` [variants]. ``late``: runs that were not done in time, by implementation and graph;
    ``left_out`` variants lack some implementation. ``unsure``: the share of all time in iterations whose
    standard error is large; ``once``: in those that were measured once; ``beside``: the loops' time over
    that of their iterations.
    """

    names: list[str]
    variants: list[Variant]
    seconds: np.ndarray
    optimum: np.ndarray
    won: np.ndarray
    late: dict[tuple[str, str], int]
    left_out: int
    unsure: float
    once: float
    beside: float
    version: str
    platform: str

    @property
    def best(self) -> np.ndarray:
        """The best whole run of every variant."""
        return self.seconds.min(axis=0)

    def of(self, name: str) -> np.ndarray:
        """Seconds of one implementation."""
        return self.seconds[self.names.index(name)]

    def inside(self, families: tuple[str, ...]) -> np.ndarray:
        """Which variants are of these families."""
        return np.array([each.family in families for each in self.variants])


def read_runs(store: Store, algorithm: str, orders: bool = False) -> PaperRuns:
    """The runs of the papers' implementations of an algorithm, on the variants that have them all.

    ``orders``: on graphs in several orders, instead of on all others.

    Raises
    ------
    UsageError
        If there is no such variant.
    """
    names = list(PAPER[algorithm])
    asked = {"algorithm": algorithm, "names": json.dumps(names), "large": LARGE}
    asked |= {"ordered": ORDERED_FAMILY, "orders": orders}
    latest = store.rows(LATEST, asked)
    if not latest:
        raise UsageError(
            f"{store.path}: nothing of {algorithm}: expected what perf gpu-strategies --paper stores"
        )
    asked |= dict(latest[0])
    rows = store.rows(RUNS, asked)
    found: dict[int, dict[str, float]] = {}
    about: dict[int, Variant] = {}
    for row in rows:
        found.setdefault(row["variantId"], {})[row["implementation"]] = row["seconds"]
        about[row["variantId"]] = Variant(
            row["graph"], row["family"], row["variant"], row["steps"], row["graphId"]
        )
    kept = [variant for variant, runs in found.items() if len(runs) == len(names)]
    if not kept:
        raise UsageError(f"{store.path}: {algorithm}: no variant that all {len(names)} were measured on")
    place = {variant: number for number, variant in enumerate(kept)}
    optimum, won = np.zeros(len(kept)), np.zeros((len(names), len(kept)), np.int64)
    for row in store.rows(OPTIMA, asked):
        if row["variantId"] in place:
            optimum[place[row["variantId"]]] += row["seconds"]
            won[names.index(row["implementation"]), place[row["variantId"]]] = row["steps"]
    late = {(row["implementation"], row["graph"]): row["runs"] for row in store.rows(LATE, asked)}
    total = sum(row["seconds"] for row in rows)
    return PaperRuns(
        names,
        [about[variant] for variant in kept],
        np.array([[found[variant][name] for variant in kept] for name in names]),
        optimum,
        won,
        late,
        len(found) - len(kept),
        sum(row["unsure"] for row in rows) / total,
        sum(row["once"] for row in rows) / total,
        sum(row["loop"] for row in rows) / total,
        asked["version"],
        asked["platform"],
    )
