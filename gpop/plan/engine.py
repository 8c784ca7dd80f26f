"""What the loop over iterations asks of a target, and what it gets back when a run ends."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from gpop.common.on_demand import OnDemand


class Finished(NamedTuple):
    """What a run leaves behind besides the program's fields; see `gpop.execution.run.Run`.

    ``frontier`` and ``touched`` (None where it was not asked for) are vertices, by partition and within one
    in no order; ``mode`` is what preparing has made of the one that was asked for. Where there are several
    ranks, ``part`` are the vertices, first and after the last, that this one owns, and ``traffic`` is what
    each rank has sent. ``link`` is what came over the link of a run whose edges were streamed, and ``choice``
    what auto goes by, where it may go by times (`gpop.cpu.trial`).
    """

    seconds: float
    prepare_seconds: float
    frontier: np.ndarray
    touched: np.ndarray | None
    counters: dict[str, int] | None
    mode: str
    threads: int
    partition_size: int
    partitions: int
    part: tuple[int, int] | None = None
    traffic: list[dict[str, float]] | None = None
    link: dict[str, Any] | None = None
    choice: dict[str, Any] | None = None


NOBODY = np.empty(0, np.uint32)
"""The frontier of a run that has come to its end."""


class Left(NamedTuple):
    """What a run of an engine that rested leaves behind besides fields (`Engine`); see `Finished`."""

    records: list[np.ndarray]
    seconds: float
    iterations: int
    active: int
    frontier: np.ndarray | OnDemand
    touched: np.ndarray | OnDemand | None = None

    @property
    def converged(self) -> bool:
        """Whether nothing is active."""
        return self.active == 0


class Engine(Protocol):
    """A target in the middle of one run; made from a `gpop.plan.plan.Plan`.

    ``range`` are the vertices, first and after the last, whose fields it sets, and ``rows`` the records that
    Python wants to see at once; both, and `active_now`, are for checkpoints.

    ``iteration`` is the number of the next iteration and ``active`` the vertices that are active in it (also
    those that wait for their priority, and those of an all-active program that are not settled): a run is
    over when there are none. ``most_rows`` is the length of the trace buffer, ``mode`` see `Finished`;
    ``settles``: whether it looks itself if a program's changes are small enough (`Program.settles`), and
    ``schedules`` whether it gives parameters that have a value for each iteration their own.

    An engine that can do many runs alike has ``rest()``: after `finish` it lets go of the graph, with which
    it is kept, and of the program, and says whether a run that is asked for alike may be done by
    ``again(start, limit, stands, meanwhile)``, which returns what it has `Left`, or None where nobody sees
    anything of the run, as where ``stands(cls)`` is False: then the class is not what it was. An engine that
    has time in the middle of a run calls ``meanwhile()`` there, or ``meanwhile(program=program)`` where that
    has the fields, and one that knows the arrays of the fields before it begins ``meanwhile(arrays)``.
    """

    iteration: int
    active: int
    most_rows: int
    mode: str
    settles: bool
    schedules: bool
    rows: int
    range: tuple[int, int]

    def prepare(self) -> dict[str, Any]:
        """Layouts, memory and kernels; returns what the trace should say about the target."""

    def load(self, sources: np.ndarray | None, rows: int, iteration: int = 0) -> None:
        """Make these vertices (all of them: None) the frontier; fields are what the program has.

        Python wants to see ``rows`` records of the trace at once, and no more. The first iteration has the
        number ``iteration``.
        """

    def active_now(self) -> np.ndarray:
        """The vertices that are active, in the order of their lists, and those that wait."""

    def iterate(self) -> np.ndarray:
        """Iterate until the run is over or Python is due; the records of the trace."""

    def scatter(self) -> None:
        """The first half of an iteration; `gather` must follow. What lies between may look at the engine."""

    def gather(self) -> np.ndarray:
        """The second half; the record of the iteration, as `iterate` gives it."""

    def publish(self) -> None:
        """Have fields where the program has them, for a callback to see."""

    def refresh(self) -> None:
        """Take over what a callback has set."""

    def finish(self) -> Finished:
        """End the run: fields are where the program has them, the engine's arrays are clean."""

    def abandon(self) -> None:
        """End a run that failed; what may not be clean is forgotten."""
