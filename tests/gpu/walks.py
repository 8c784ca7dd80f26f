"""Ways to walk neighbours by name, and programs of every kind for them."""

from __future__ import annotations

from itertools import cycle

import pytest

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

FORMS = [mask + by for mask in ("", "/masked") for by in ("", "/each", "/bulk", "/warp", "/block")]


def formed():
    """Every strategy by name in every form; two of them are quick."""
    few = {
        ("vertex-push", "/each"), ("vertex-push-warp:8-32", "/masked/block"),
    }  # fmt: skip
    programs = cycle(["Colours", "ColoursCombined", "WeightedSumsCombined", "Letters"])
    for mode in BY_NAME:
        for form in FORMS[1:]:
            marks = [] if (mode, form) in few else pytest.mark.slow
            yield pytest.param(next(programs), mode + form, marks=marks)
