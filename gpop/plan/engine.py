"""What the loop over iterations asks of a target, and what it gets back when a run ends."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np


class Finished(NamedTuple):
    """What a run leaves behind besides the program's fields.

    ``frontier`` and ``touched`` (None where it was not asked for) are ascending vertices; ``settings`` the
    fields of `gpop.execution.run.Run` that the target decided: threads, mode, partition size ...
    """

    seconds: float
    converged: bool
    frontier: np.ndarray
    touched: np.ndarray | None
    counters: dict[str, int] | None
    settings: dict[str, Any]


class Engine(Protocol):
    """A target in the middle of a run; made from a `gpop.plan.plan.Plan`.

    ``iteration`` and ``active`` (vertices in the frontier) are those of the next iteration; ``summary`` is
    what the trace says about the target.
    """

    iteration: int
    active: int
    summary: dict[str, Any]

    def prepare(self) -> float:
        """Layouts, memory and kernels; returns the seconds that layouts took."""

    def load(self, sources: np.ndarray | None) -> None:
        """Make these vertices (all of them: None) the frontier, and fields what the program has."""

    def iterate(self, limit: int, rows: int) -> np.ndarray:
        """Iterate until the run is over or Python is due; at most ``rows`` records of the trace."""

    def scatter(self) -> None:
        """The first half of an iteration; `gather` must follow."""

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration."""

    def publish(self) -> None:
        """Fields where the program has them, for a callback to see."""

    def refresh(self) -> None:
        """Take over what a callback has set."""

    def finish(self) -> Finished:
        """End the run; the engine's arrays are left clean."""

    def abandon(self) -> None:
        """End a run that failed; what may not be clean is forgotten."""
