"""Measure what `gpop.cpu.constants` holds: iterations of the engine, in every mode, on graphs of four kinds.

One program, whose vertices are all active and send their value, is run on a skewed graph, on a random one, on
a grid and on one with few and scattered edges. What an iteration takes is a sum of parts, each a count (bytes
of the model, edges, messages, values read) times a constant; the constants are those with which the sums come
closest to what was measured, relative to it. Four graphs say little about each constant alone, so those that
gpop comes with, times what this machine is faster or slower by, count as measurements, too (`TRUST`): what
the graphs do not tell apart stays as it was.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np

from gpop.common.errors import GpopError
from gpop.common.progress import activity
from gpop.generate import generate
from gpop.graph.graph import Graph
from gpop.layout.edge_block_plan import Costs
from gpop.layout.edge_blocks import plan_of
from gpop.model.constants import SHIPPED, Constants
from gpop.plan.engine import Engine
from gpop.plan.plan import Plan, decide
from gpop.plan.trace import BYTES_AT, GATHER_AT, MESSAGES_AT, SCATTER_AT
from gpop.program.fields import HARMLESS, VertexField
from gpop.program.program import Program

SAMPLES = (
    ("rmat", {"scale": 19, "degree": 16}),
    ("uniform", {"scale": 19, "degree": 16}),
    ("grid", {"width": 1024, "height": 1024}),
    ("uniform", {"scale": 21, "degree": 1}),
)
"""Large enough to leave the caches of a core, and made in a moment."""

ITERATIONS = 2
"""Of a run, of which the last is measured: in the first one the other threads are called. With 16 that was a
third of it, in all modes alike."""

ROUNDS, MOST_ROUNDS = 7, 42

STEADY = 1.25
"""The third least time of an iteration may be so many times the least; until then there are more rounds: what
the machine does is seen between what others do on it."""

MOST_PASSES = 4
"""Over all graphs; two are made at least."""

TRUST = 1.0
"""What a constant that gpop comes with weighs, in measurements."""

FARTHEST = 4.0
"""No constant is taken for so many times more, or less, than it was."""

QUIET = "; measure when nothing else runs on this machine"
"""What to do where times differ."""

MODES = ("sc", "pc", "pull")

BYTES = 4, 4
"""Of what a message changes and of a value, as the engine has them for `Spread`."""


class Unsteady(GpopError):
    """The machine is too busy to be measured."""


class Spread(Program):
    """One word a message and one addition: the time is that of the accesses."""

    value = VertexField(np.float32, 1)
    inactive_message = HARMLESS
    all_active = True

    def scatterFunc(self, node):
        return self.value[node]

    def gatherFunc(self, value, node):
        self.value[node] += value
        return True


def fitted(parts: np.ndarray, seconds: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Constants with which ``parts @ constants`` comes close to ``seconds``; ``start`` says how they relate.

    Examples
    --------
    >>> parts = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> fitted(parts, parts @ [6.0, 2.0], np.array([3.0, 1.0])).round(6)
    array([6., 2.])
    """
    scale = statistics.median(seconds / (parts @ start))
    rows = parts * (start * scale) / seconds[:, None]
    rows = np.vstack([rows, TRUST * np.eye(len(start))])
    wanted = np.concatenate([np.ones(len(seconds)), np.full(len(start), TRUST)])
    times = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    return scale * start * np.clip(times, 1 / FARTHEST, FARTHEST)


def is_steady(seconds: list[float]) -> bool:
    """Whether the least times, after the first, lie close together.

    >>> is_steady([9, 2, 1, 1.2, 1.1, 5, 9, 3]), is_steady([9, 2, 1, 1.3, 1.1, 5, 9, 3]), is_steady([1, 1, 1])
    (True, False, False)
    """
    if len(seconds) <= ROUNDS:
        return False
    least, _, third = sorted(seconds[1:])[:3]
    return third <= STEADY * least


def iterations(
    engine_of: Callable[[Plan], Engine], graph: Graph, threads: int
) -> dict[str, tuple[float, float, float]]:
    """By mode: the least seconds of an iteration, and its bytes and messages by the trace.

    Modes take turns, so that what else the machine does hits all of them, and go on until all are `STEADY`.

    Raises
    ------
    Unsteady
        Where the least times of a mode lie too far apart to be those of the machine.
    """
    program = Spread(graph)
    took: dict[str, list[float]] = {mode: [] for mode in MODES}
    rows: dict[str, np.ndarray] = {}
    while min(map(len, took.values())) <= MOST_ROUNDS and not all(map(is_steady, took.values())):
        for mode, seconds in took.items():
            engine = engine_of(decide(program, mode=mode, threads=threads, ratio=1.0, limit=ITERATIONS))
            engine.prepare()
            engine.load(None, ITERATIONS)
            found = engine.iterate()
            while len(found) == 0:  # it has come back to have the workers called
                found = engine.iterate()
            engine.finish()
            rows[mode] = found[-1]
            seconds.append(float(rows[mode][SCATTER_AT] + rows[mode][GATHER_AT]))
    for mode, seconds in took.items():
        if not is_steady(seconds):
            least, _, third = sorted(seconds[1:])[:3]
            found = f"the three fastest iterations took {1e3 * least:.2f} to {1e3 * third:.2f} ms"
            raise Unsteady(f"{mode}: {found}, expected {STEADY} times the fastest at most{QUIET}")
    return {mode: (min(took[mode][1:]), row[BYTES_AT], row[MESSAGES_AT]) for mode, row in rows.items()}


def measure(engine_of: Callable[[Plan], Engine], threads: int) -> Constants:
    """The constants of this machine.

    Raises
    ------
    Unsteady
        Where it does too much else to tell.
    """
    with activity("measuring this machine"):
        graphs = [generate(kind, **sizes) for kind, sizes in SAMPLES]
        passes: list[list[dict[str, tuple[float, float, float]]]] = []
        while len(passes) < 2 or not agree(passes):
            if len(passes) == MOST_PASSES:
                found = f"an iteration took other times in each of {MOST_PASSES} passes"
                raise Unsteady(f"{found}, expected two that agree{QUIET}")
            passes.append([iterations(engine_of, graph, threads) for graph in graphs])
    least = [
        {mode: min(found[mode] for found in of_graph) for mode in MODES}
        for of_graph in zip(*passes, strict=True)
    ]
    took = {mode: [found[mode] for found in least] for mode in MODES}
    plans = [plan_of(graph, threads, *BYTES) for graph in graphs]
    edges = np.array([graph.m for graph in graphs], float)
    return constants_from(took, edges, [plan.parts(threads) for plan in plans], threads)


def agree(passes: list[list[dict[str, tuple[float, float, float]]]]) -> bool:
    """Whether in two passes over the graphs, at least, each mode took about its least time on each of them.

    A machine that changes its speed between two graphs does so for all modes at once, and steadily.

    >>> slow, fast = {"pc": (2.0, 0, 0)}, {"pc": (1.0, 0, 0)}
    >>> agree([[fast, slow], [slow, slow]]), agree([[fast, slow], [slow, slow], [fast, slow]])
    (False, True)
    """
    for of_graph in zip(*passes, strict=True):
        for mode in of_graph[0]:
            least, second = sorted(found[mode][0] for found in of_graph)[:2]
            if second > STEADY * least:
                return False
    return True


def constants_from(
    took: dict[str, list[tuple[float, float, float]]],
    edges: np.ndarray,
    parts: list[tuple[np.ndarray, np.ndarray]],
    threads: int,
) -> Constants:
    """The constants that explain what iterations took; ``parts`` are those of plans
    (`gpop.layout.edge_block_plan.Plan.parts`)."""
    start = np.array(SHIPPED.costs)
    each = {mode: np.array([row[0] for row in rows]) * 1e9 * threads / edges for mode, rows in took.items()}
    pulls = len(parts[0][0])
    costs = np.concatenate(
        [
            fitted(np.array([pull for pull, _ in parts]), each["pull"], start[:pulls]),
            fitted(np.array([pc for _, pc in parts]), each["pc"], start[pulls:]),
        ]
    )
    # Eq. (1): seconds for each byte of PC, and for each of SC; accesses to the cache are bytes of these.
    seconds, sent, _ = np.array(took["pc"]).T
    byte_pc, probed = fitted(np.column_stack([sent, edges]), seconds, np.array([1.0, SHIPPED.probe]))
    probe = probed / byte_pc
    seconds, sent, messages = np.array(took["sc"]).T
    counted = np.column_stack([sent + edges * probe, messages])
    byte_sc, moved = fitted(counted, seconds, np.array([1.0, SHIPPED.cursor]))
    return Constants(
        round(float(byte_sc / byte_pc), 3),
        round(float(probe)),
        round(float(moved / byte_sc)),
        Costs(*costs.round(3).tolist()),
    )
