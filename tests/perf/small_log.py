"""A store with a log of steps that nobody had to measure: times follow a rule, features are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpop.model.features import OF_GRAPH, OF_RUN, OF_STEP
from perf import register
from perf.implementations import gpop_version
from perf.store import Store

GRAPHS, STEPS = 6, 8
FAMILIES = ("road", "web")
STRATEGIES = ("gpop-sc", "gpop-pc", "gpop-pull", "gpop-auto", "gpop-paper")


def rule(share: float, name: str) -> float:
    """Seconds of a step: sc is the fastest while few edges are active, then pull; auto wastes a little."""
    fast, slow = 1e-3, 4e-3
    best = "gpop-sc" if share < 0.3 else "gpop-pull"
    if name in ("gpop-auto", "gpop-paper"):
        return fast * (1.3 if name == "gpop-auto" else 1.6)
    return fast if name == best else slow


def fill(path: Path, seed: int = 1) -> Store:
    """The store at this path, with `GRAPHS` graphs in two families, a variant each, of `STEPS` steps."""
    rng, store = np.random.default_rng(seed), Store(path)
    for number in range(GRAPHS):
        spec = f"rmat:scale={4 + number}"
        register.register_graphs(store, FAMILIES[number % 2], [spec])
    register.register_strategies(store, "bfs")
    for family in FAMILIES:
        register.register_run_config(store, "bfs", family, threads=2, repeats=2)
    jobs = store.missing(store.rows("SELECT name FROM Platform")[0]["name"], gpop_version())
    shares = {}
    for job in jobs:
        if job["implementation"] not in STRATEGIES:
            continue
        if job["variantId"] not in shares:
            shares[job["variantId"]] = share = rng.random(STEPS)
            of_graph = dict(zip(OF_GRAPH, rng.random(len(OF_GRAPH)), strict=True))
            store.record_graph(job["graphId"], {"hash": "x", "properties": of_graph})
            steps = {name: rng.random(STEPS).tolist() for name in (*OF_RUN, *OF_STEP)}
            steps |= {"edges rel": share.tolist(), "pulls": [1.0] * STEPS}
            store.record_variant(job["variantId"], job["algorithmId"], {"hash": None, "steps": steps})
        times = [[rule(share, job["implementation"]) * slow for share in shares[job["variantId"]]]
                 for slow in (1.0, 1.1)]  # fmt: skip
        counts = {name: [float(step + 1) for step in range(STEPS)] for name in
                  ("frontier", "active_edges", "messages")}  # fmt: skip
        done = {"version": "gpop", "hash": None, "fault": None, "error": None, "values": counts}
        done |= {"totals": {"computation": [sum(each) for each in times]}, "steps": {"iteration": times}}
        assert store.record_run({**dict(job), "result": None}, done)
    return store
