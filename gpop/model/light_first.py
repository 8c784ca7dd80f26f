"""Shortest paths on lists by weight: the steps, and what says which one comes next, on either target.

See `gpop.direct.shortest_paths`. Distances are uint32.
"""

from __future__ import annotations

PHASES = ("near", "split", "rest", "pull")

FARTHEST = 2**31 - 1
"""Distance of what is not reached, or is as far or farther."""

NEVER = 2**32 - 1
"""Beyond all distances."""

FULL = 7, 8
"""Share of all edges: what is not settled asks when so many are those of settled vertices."""

FEW = 16
"""Later buckets get wider when one takes less than one in so many of the far vertices."""

VISIT = 4
"""What a rest costs for a settled vertex, in edges."""
