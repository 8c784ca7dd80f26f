"""The one-call functions where several ranks run them together: which can, and what each rank gets.

A result has the rank's own part, ``result.run.part``; with ``gather=True`` every rank has the whole. What an
app does after its runs may need whole fields all the same: those are gathered for it, and the result is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpop.apps.holds import held
from gpop.apps.result import AppResult
from gpop.apps.tables import DENSE
from gpop.common.errors import UsageError
from gpop.ranks.world import World, world_of

PART, WHOLE = range(2)

ON_RANKS = {
    "bfs": PART,
    "pagerank": PART,
    "connected_components": WHOLE,
    "heat_kernel": WHOLE,
    "hits": WHOLE,
    "independent_set": WHOLE,
    "katz": WHOLE,
    "nibble": WHOLE,
    "pagerank_nibble": WHOLE,
    "personalized_pagerank": WHOLE,
    "sssp": WHOLE,
    "triangle_count": WHOLE,
}
"""What ranks can do together, and whether an own part is enough for what follows the last run."""


def several(options: dict[str, Any]) -> bool:
    """Whether a run with these options is done by several ranks."""
    return world_of(options.get("transport", "auto")) is not None


def on_ranks(function: Callable[..., AppResult], world: World, *arguments: Any, **options: Any) -> AppResult:
    """Call a one-call function on all ranks.

    Raises
    ------
    UsageError
        For one that runs alone only.
    """
    name = function.__name__
    if name not in ON_RANKS:
        raise UsageError(f"{name} is for a run alone, not for {world.size} ranks: expected transport='alone'")
    gather = options.pop("gather", False)
    needs_whole = ON_RANKS[name] == WHOLE or options.get("reorder", "none") != "none"
    result = function(*arguments, **options, gather=gather or needs_whole)
    dense = [name for name, what in held(result).items() if what in DENSE]
    if gather or not dense:
        return result
    own = slice(*result.run.part)
    return replace(result, **{name: getattr(result, name)[own] for name in dense})
