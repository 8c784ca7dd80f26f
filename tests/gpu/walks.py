"""Ways to walk neighbours by name, and programs of every kind for them."""

from __future__ import annotations

from tests.gpu.cases import CASES
from tests.gpu.foreign import FOREIGN

BY_NAME = (
    "struct-edge-list", "reverse-edge-list", "reverse-struct-edge-list", "vertex-push",
    "vertex-push-warp:8-32", "vertex-pull", "vertex-pull-warp:4-8", "hyb",
)  # fmt: skip

# A minimum, a sum, "or", needy vertices, weights, two fields, nothing declared, and no frontier.
WALKED = {
    **{name: CASES[name] for name in ("WeightedSumsCombined", "ColoursCombined", "Colours", "Distance")},
    **{name: CASES[name] for name in ("DistanceCombined", "Letters", "Changes", "Countdown")},
    **{name: FOREIGN[name] for name in ("NotedVotes", "FloatVotesCombined", "HighestCombined", "Lowest")},
}
