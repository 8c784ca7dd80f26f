"""Facts: the few numbers that were found out about a graph, so that nobody looks twice.

None stands for what nobody has asked for yet. A graph does not change, so a fact stays true, and travels with
copies and pickles, except for what became of layouts that are not copied. Data that is worth listing
and dropping is in the graph's store (`gpop.graph.kept`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass
class Facts:
    """What is known of one graph."""

    file: tuple[str, int, int] | None = None
    """The file that it was loaded from, and the state it was in (`gpop.layout.orphans.file_state`)."""
    layout_directory: Path | None = None
    """Where its layouts are kept in files (`gpop.layout.bins_file`)."""
    layout_told: str | None = None
    """What became of the last layout there, in words."""
    symmetric: bool | None = None
    equals_reverse: bool | None = None
    ascending: bool | None = None
    """Whether all adjacency lists ascend."""
    simple: bool | None = None
    """Whether no vertex is in its own list, and none is in a list twice; of a graph whose lists ascend."""
    has_hub: bool | None = None
    hubs_first: bool | None = None
    """Whether hubs go first in blocks of in-edges (`gpop.layout.hubs_first`)."""
    most_in_edges: int | None = None
    receivers: int | None = None
    """Vertices with in-edges."""
    mapped: Any = None
    """Where its arrays are on disk, when it was opened from there (`gpop.layout.mapped.Mapped`)."""
    content_hash: int | None = None
    mean_weight: float | None = None
    heaviest_weight: float | None = None
    negative_weight: float | None = None
    """The smallest weight, if that is below 0 (-inf where one is no number), of a graph in parts on ranks."""
    mesh: bool | None = None
    """Whether neighbours are few and near and levels of a search many (`gpop.direct.breadth_first`)."""
    squared_degrees: int | None = None
    """The sum of the squares of the out-degrees."""
    in_long_lists: dict[int, float] = field(default_factory=dict)
    """Share of the edges that go to vertices with more than so many in-edges."""
    features: tuple[float, ...] | None = None
    """What strategies are predicted from (`gpop.model.features`)."""
    share_inside: dict[int, float] = field(default_factory=dict)
    """Share of the edges that stay in their partition, by the bits of a partition."""
    iterations_without_blocks: int = 0
    """Iterations that were done in PC where pull through blocks might have been chosen, or are to come."""

    def copied(self) -> Facts:
        """The facts of a copy of the graph, for which no layout was built yet."""
        return replace(self, share_inside=dict(self.share_inside), layout_told=None, mapped=None)

    def of_same_file(self) -> Facts:
        """What a graph made of this one has in common with it: where it came from."""
        return Facts(file=self.file, layout_directory=self.layout_directory)
