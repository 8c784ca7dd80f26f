"""Graphie's ways to transfer partitions, as options of a run, and what the paper says that each saves.

The baseline transfers every partition in every step; OPT1 active ones only; OPT2 those that lie in no buffer;
both is the published scheme. The paper's OPT1 differs from its baseline in shared memory, too.

Paper: Han, Mawhirter, Wu, Buland, "Graphie" (PACT 2017), section V and figure 7.
"""

from __future__ import annotations

EVERYTHING, BOTH = "everything", "both"
WAYS = {
    EVERYTHING: {"reuse": False, "only_active": False},
    "OPT1": {"reuse": False},
    "OPT2": {"only_active": False},
    BOTH: {},
}
PUBLISHED = {
    "OPT1": "22-27 %",
    "OPT2": "28-38 %",
    BOTH: {"bfs": "61 %", "sssp": "62 %", "cc": "55 %"},
}
"""Saved of the time of everything, means over the paper's graphs."""

SECONDS = {
    "bfs": {"Graphie": 0.59, "X-Stream": 3.33, "GraphReduce": 4, "CuSha": 0.98},
    "cc": {"Graphie": 0.48, "X-Stream": 6.5, "GraphReduce": 9, "CuSha": 1.13},
    "sssp": {"Graphie": 1.67, "X-Stream": 9.36, "GraphReduce": 7, "CuSha": 1.07},
}
"""Of the paper's table III, kron_g500-logn21 (2.1 M vertices, 182 M edges) on half a Titan Z over PCIe 3."""


def beside(app: str, seconds: dict[str, float]) -> str:
    """What was measured here, in milliseconds by name, beside the paper's table.

    >>> beside("bfs", {"both": 0.05})
    "both 50 ms; the paper's, kron_g500-logn21: Graphie 590, X-Stream 3330, GraphReduce 4000, CuSha 980 ms"
    """
    here = ", ".join(f"{name} {1e3 * each:.0f} ms" for name, each in seconds.items())
    there = ", ".join(f"{name} {1e3 * each:.0f}" for name, each in SECONDS[app].items())
    return f"{here}; the paper's, kron_g500-logn21: {there} ms"


def published(name: str, app: str) -> str:
    """What the paper says of a way.

    >>> published("OPT2", "bfs"), published(BOTH, "bfs")
    ('28-38 %', '61 %')
    """
    said = PUBLISHED[name]
    return said[app] if isinstance(said, dict) else said


def saved(before: float, after: float) -> float:
    """Of what there was before, in per cent.

    >>> saved(4.0, 1.0)
    75.0
    """
    return 100 * (1 - after / before)
