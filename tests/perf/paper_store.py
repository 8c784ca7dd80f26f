"""A store with runs of the papers' implementations that nobody had to measure: times follow a rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpop.model.features import OF_GRAPH, OF_RUN, OF_STEP
from perf import register
from perf.implementations import gpop_version
from perf.paper import PAPER
from perf.store import MOST_RETRIES, Store

GRAPHS = {"road": ("grid:width=8,height=8",), "constant degree": ("degree4:side=4", "star:vertices=9")}
STEPS = 3
DEVICE = "a device"


def rule(name: str, graph: str, step: int) -> float:
    """Seconds: push is fast, and slow on stars; pull is faster in the middle; counting costs a little."""
    seconds = 2e-5 if name.startswith("vertex-pull") else 1e-5
    if graph.startswith("star") and name.startswith("vertex") and "-warp" not in name:
        seconds *= 30
    if step == 1:
        seconds = 4e-5 if name.startswith("vertex-push") else 1e-5
    if "edge" in name:
        seconds = 3e-5 if "struct" in name else 2.9e-5
    return seconds * (1.1 if name.endswith(("bulk", "reduce")) else 1)


def fill(path: Path, late: str = "", families: dict = GRAPHS, rule: Callable = rule) -> Store:
    """All implementations on all graphs, three levels each; ``late`` had no time for the star."""
    store = Store(path)
    store.rows("PRAGMA synchronous = OFF")  # nobody misses it when the machine goes down
    register.register_platform(store, DEVICE)
    for app, named in PAPER.items():
        register.register_family(store, app, named)
        for family, specs in families.items():
            register.register_graphs(store, family, specs)
            register.register_run_config(store, app, family, repeats=2, platform=DEVICE)
    for job in store.missing(DEVICE, gpop_version()):
        name = job["implementation"]
        if name not in PAPER[job["algorithm"]]:
            continue
        if not store.rows("SELECT 1 FROM GraphPropValue WHERE graphId = ?", (job["graphId"],)):
            values = {each: 10.0 for each in OF_GRAPH} | {"edges": 40.0}
            store.record_graph(job["graphId"], {"hash": "x", "properties": values})
        told = {each: [1.0] * STEPS for each in (*OF_RUN, *OF_STEP)}
        store.record_variant(job["variantId"], job["algorithmId"], {"hash": None, "steps": told})
        if name == late and job["graph"].startswith("star"):
            store.record_failure(job, "time-out: 0 of 1 runs done in 1 s", MOST_RETRIES)
            continue
        times = [rule(name, job["graph"], step) for step in range(STEPS)]
        values = {each: [1.0] * STEPS for each in ("frontier", "active_edges", "messages")}
        totals = {"computation": [2 * sum(times)] * 2, "loop": [1.5 * sum(times)] * 2}
        done = {"version": "gpop", "hash": None, "fault": None, "error": None, "values": values}
        done |= {"totals": totals, "steps": {"iteration": [times, times]}}
        assert store.record_run({**dict(job), "result": None}, done)
    return store
