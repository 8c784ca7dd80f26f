"""Logs of several algorithms as one, for a tree that serves all of them.

A strategy that an algorithm does not have takes forever there, so that a tree learns not to choose it where
the features of the program say so. Graphs are the same where their names are: who holds one out holds it
out of all algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpop.learn.steps import Steps
from perf.steps import Log


def joined(logs: Sequence[Log]) -> tuple[Steps, np.ndarray]:
    """All steps, and the algorithm of each; of what switches by itself, what all logs have."""
    strategies = tuple(sorted({name for log in logs for name in log.steps.strategies}))
    names = sorted({name for log in logs for name in log.graphs.values()})
    others = set.intersection(*({*log.steps.others} for log in logs))
    parts, algorithms, variants = [], [], 0
    for log in logs:
        steps = log.steps
        seconds = np.full((len(steps), len(strategies)), np.inf)
        seconds[:, [strategies.index(name) for name in steps.strategies]] = steps.seconds
        graph = np.array([names.index(log.graphs[number]) for number in steps.graph.tolist()])
        variant = variants + np.searchsorted(steps.variants, steps.variant)
        variants += len(steps.variants)
        ids = graph, variant, steps.step, steps.family
        parts.append((steps.features, seconds, *ids, *(steps.others[name] for name in sorted(others))))
        algorithms += [log.algorithm] * len(steps)
    features, seconds, *rest = (np.concatenate(each) for each in zip(*parts, strict=True))
    switching = dict(zip(sorted(others), rest[4:], strict=True))
    return Steps(strategies, features, seconds, *rest[:4], switching), np.array(algorithms)
