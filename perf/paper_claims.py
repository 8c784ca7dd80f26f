"""What the papers found, and whether this device agrees: sentences computed from the store.

The numbers are the papers' own: totals and worst cases of tables 4.4 to 4.6 of the thesis (a TitanX, KONECT
and SNAP graphs), and the sentences of the first paper (a K20, its 19 graphs). Orders are compared by
Kendall's tau: 1 where two orders are the same, -1 where one is the other reversed.
Papers: Verstraaten, Varbanescu, de Laat (Euro-Par 2015); Verstraaten (2022), see perf/paper.py.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import kendalltau

from gpop.learn.evaluate import Line
from perf.paper import LISTS
from perf.paper_runs import PaperRuns
from perf.paper_tables import BEST_NON_SWITCHING, walk_of, winners

TABLE_4_4 = {
    "struct-edge-list": 1.15, "edge-list": 1.18, "vertex-pull-nodiv": 2.29, "reverse-edge-list": 2.54,
    "reverse-struct-edge-list": 2.55, "vertex-push-warp-16-64": 2.57, "vertex-pull-warp-nodiv-16-64": 3.25,
    "vertex-pull-warp-16-64": 4.49, "vertex-push": 5.28, "vertex-pull": 13.20,
}  # fmt: skip
"""Totals of PageRank over the best of every graph."""

TABLE_4_5 = {
    "vertex-push-warp-16-64": 2.17, "edge-list": 3.97, "struct-edge-list": 4.77,
    "vertex-pull-warp-16-64": 5.16, "vertex-push": 7.47, "reverse-edge-list": 7.48,
    "reverse-struct-edge-list": 8.05, "vertex-pull": 12.53,
}  # fmt: skip
"""Totals of BFS over the best whole run of every variant."""

TABLE_4_6 = {BEST_NON_SWITCHING: 3.17, "vertex-push-warp-16-64": 6.88}
"""Of BFS over the optimum that switches in every level."""

EDGE_WORST = 3.54
"""The worst of both edge lists in table 4.4."""

CONSTANT = "constant degree"
ALMOST_NEVER = 0.1
SAME = 0.6
"""A tau from which on two orders are called alike."""


def verdict(agrees: bool) -> str:
    """The word that a sentence begins with.

    >>> verdict(True), verdict(False)
    ('Agrees', 'Contradicts')
    """
    return "Agrees" if agrees else "Contradicts"


def order(what: str, table: dict[str, float], found: list[Line]) -> str:
    """How the papers' order of totals stands to the one here."""
    totals = {walk_of(line.name): line.total for line in reversed(found)}  # the best of each walk
    here = [totals[name] for name in table]
    tau = float(kendalltau(list(table.values()), here).statistic)
    theirs, ours = min(table, key=table.__getitem__), list(table)[int(np.argmin(here))]
    return (
        f"{verdict(tau >= SAME)}: {what}: tau {tau:.2f} between the order there and here; there {theirs} "
        f"has the best total, {table[theirs]:.2f} (here {totals[theirs]:.2f}), here {ours}, {min(here):.2f}."
    )


def constant_degree(runs: PaperRuns) -> str:
    """Push and pull without division win where all degrees are the same."""
    inside = runs.inside((CONSTANT,))
    if not inside.any():
        return "No graph of constant degree was measured."
    names = [name for name, here in zip(winners(runs), inside, strict=True) if here]
    won = sum(name in ("vertex-push", "vertex-pull-nodiv") for name in names)
    return (
        f"{verdict(won >= len(names) - 1)}: push and NoDiv pull win on all but one constant-degree graph: "
        f"here on {won} of {len(names)} (winners: {', '.join(sorted(set(names)))})."
    )


def roads(runs: PaperRuns) -> str:
    """They do well on roads, whose degrees are small."""
    inside = runs.inside(("road",))
    if not inside.any():
        return "No road was measured."
    ratio = {
        name: float((runs.of(name) / runs.best)[inside].mean())
        for name in ("vertex-push", "vertex-pull-nodiv")
    }
    told = ", ".join(f"{name} {value:.2f}" for name, value in ratio.items())
    return f"{verdict(max(ratio.values()) < 2)}: they do well on roads: here, over the best of each, {told}."


def star(runs: PaperRuns) -> str:
    """The star is the worst case of push and pull."""
    said, alike = [], True
    for name in ("vertex-push", "vertex-pull"):
        ratio = runs.of(name) / runs.best
        worst = int(ratio.argmax())
        alike &= runs.variants[worst].graph.startswith("star")
        said.append(f"{name} {ratio[worst]:.1f} on {runs.variants[worst].graph}")
    return f"{verdict(alike)}: a star is the worst case of push and pull: here {', '.join(said)}."


def edge_based(runs: PaperRuns) -> str:
    """Edge lists are never far behind."""
    ratio = np.min([runs.of(name) for name in ("edge-list", "struct-edge-list")], axis=0) / runs.best
    worst = int(ratio.argmax())
    return (
        f"{verdict(ratio[worst] <= EDGE_WORST)}: edge-based is never far behind (at worst {EDGE_WORST} "
        f"there): here at worst {ratio[worst]:.2f} ({runs.variants[worst].graph}), in the median "
        f"{np.median(ratio):.2f}."
    )


def structs(runs: PaperRuns) -> str:
    """Arrays of structs beside arrays."""
    pairs = [(f"{LISTS[at]}", f"{LISTS[at + 1]}") for at in (0, 2)]
    ratio = np.concatenate([runs.of(struct) / runs.of(plain) for plain, struct in pairs])
    mean = float(np.exp(np.log(ratio).mean()))
    return (
        f"{verdict(1 <= mean <= 1.1)}: structs are nearly equal to arrays and marginally slower: here "
        f"{mean:.3f} times their time (geometric mean), slower in {np.mean(ratio > 1):.0%}."
    )


def warps(runs: PaperRuns) -> str:
    """Virtual warps almost never win."""
    share = float(np.mean(["-warp" in name for name in map(walk_of, winners(runs))]))
    return f"{verdict(share <= ALMOST_NEVER)}: warp versions almost never win: here on {share:.0%} of all."


def lanes(runs: PaperRuns) -> str:
    """Virtual warps share a hub's edges among their lanes (Hong et al. 2011)."""
    stars = np.array([each.graph.startswith("star") for each in runs.variants])
    if not stars.any():
        return "No star was measured."
    names = ("vertex-push-warp-8-32", "vertex-push-warp-16-64", "vertex-push-warp-32-32")
    times = [float(1e3 * runs.of(name)[stars].sum()) for name in names]
    told = ", ".join(f"{name} {time:.1f} ms" for name, time in zip(names, times, strict=True))
    return f"{verdict(times == sorted(times)[::-1])}: more lanes are faster on stars: {told} over all roots."


OF_PAGERANK = (constant_degree, roads, star, edge_based, structs, warps)


def switching(found: list[Line]) -> str:
    """What is left on the table without switching."""
    totals = {line.name: line.total for line in found}
    best = min((name for name in totals if name != BEST_NON_SWITCHING), key=totals.__getitem__)
    theirs, ours = TABLE_4_6[BEST_NON_SWITCHING], totals[BEST_NON_SWITCHING]
    return (
        f"{verdict(ours >= 2)}: who knows the best implementation of every variant is far from the optimum "
        f"of switching in every level: {theirs:.2f} there, {ours:.2f} here; the best single one "
        f"{TABLE_4_6['vertex-push-warp-16-64']:.2f} there, {totals[best]:.2f} here ({best})."
    )
