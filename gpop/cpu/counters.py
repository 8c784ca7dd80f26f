"""What kernels count where they are asked to: what a run has touched, whatever the machine and the time.

``counters[w, column]`` of a workspace is what thread ``w`` has counted (int64); a run's counters are the sums
over threads, by name (`gpop.run` with ``counters=True``).
"""

from __future__ import annotations

(
    EDGES,
    MESSAGES_SC,
    MESSAGES_PC,
    IDS,
    MESSAGES,
    PROBED,
    FILLED,
    INTERLEAVED,
    VERTICES,
    INTRA,
    EDGES_PULLED,
    MESSAGES_PULLED,
    BUCKET_STEPS,
    WAITING_READ,
) = range(14)
"""Columns."""

COUNTERS = (
    "edges_scattered",
    "messages_sc",
    "messages_pc",
    "ids_gathered",
    "messages_gathered",
    "bins_probed",
    "bins_filled",
    "ids_interleaved",
    "vertices_scattered",
    "intra_edges",
    "edges_pulled",
    "messages_pulled",
    "bucket_steps",
    "waiting_read",
)
"""Their names, in this order."""
