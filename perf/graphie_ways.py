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
