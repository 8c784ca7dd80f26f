"""What each out-edge of a vertex gets of its rank: 1 / out-degree, or 1 / (sum of its weights).

It is kept with the graph, for every PageRank on it; a vertex that sends nothing keeps what it has.
"""

from __future__ import annotations

import numpy as np

from gpop.apps.weights import out_weights
from gpop.common.errors import UsageError
from gpop.common.parallel import ranges
from gpop.graph.graph import Graph
from gpop.graph.kept import Kind

RANGE = {"float32": 2.0**64, "float64": 2.0**512}
"""The sum of a vertex's weights is at most so large, and at least one divided by that: its rank divided by
it is then within the range of the type, with all digits."""


def sent_by(graph: Graph, dtype: np.dtype, weighted: bool) -> np.ndarray:
    """How many edges each vertex has, or the sum of their weights."""
    return _sums(graph, dtype) if weighted else graph.out_degree


def shares(graph: Graph, dtype: np.dtype, weighted: bool) -> np.ndarray:
    """What an out-edge gets of the rank. No function writes it, so programs use what is kept."""
    store, key = graph.store, (dtype, weighted)
    kept = store.get(Kind.SHARES, key)
    if kept is None:
        kept, sent = np.empty(graph.n, dtype), sent_by(graph, dtype, weighted)
        for first, last in ranges(kept.size, 1 << 20):
            each = sent[first:last]
            each = np.where(each > 0, each, 1) if weighted else np.maximum(each, 1)
            np.divide(1, each, out=kept[first:last], casting="same_kind")
        kept.flags.writeable = False
        store.put(Kind.SHARES, kept, key, about="weights" * weighted)
    return kept


def _sums(graph: Graph, dtype: np.dtype) -> np.ndarray:
    """Sums of the weights of out-edges, none of them beyond the range of ``dtype``."""
    sums, most = out_weights(graph, "pagerank"), RANGE[dtype.name]
    beyond = np.flatnonzero((sums > most) | ((sums < 1 / most) & (sums > 0)))
    if beyond.size:
        hint = "; dtype float64 takes more" if dtype == np.float32 else ""
        raise UsageError(
            f"pagerank: the weights of vertex {beyond[0]} sum to {sums[beyond[0]]:.3g}: expected 0, or from "
            f"{1 / most:.0e} to {most:.0e} in {dtype.name}{hint}"
        )
    return sums
