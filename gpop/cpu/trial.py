"""Two ways that take turns while runs go on, so that the faster one is known by its times.

Where every vertex is active, messages are pulled through blocks or sent through bins, and the model foretells
which takes less time from counts (`gpop.layout.edge_block_plan`). In which caches lines lie, and how far
cores are apart, it does not know: on graphs whose values fit the caches it was wrong by up to 1.9 times, and
constants that suit one graph and machine do not suit the next. Both ways give the same bits (pull_all.py), so
they may change from iteration to iteration, and nothing but time comes of it.

So the way that the model says is taken until what the other one costs to try, mostly its layout, is little
beside what was done: for most graphs that is many runs. Then both take turns of `TURN` iterations, or to the
end of the run. The first iteration of a turn does not count: it finds the caches as the other way has left
them, and pages that nobody has touched; and what holds up one more than `HELD_UP` times as long as most take
is none of the way's. Each turn is compared with the one before it, when the machine was mostly as fast. The
other way is taken from then on if it was faster by more than what turns differ anyway (`NEARLY`), until
iterations have gone on for `AGAIN` times as long, when there is another trial: what a machine does changes,
and the price is small by then.
"""

from __future__ import annotations

import math
import statistics

import numpy as np

from gpop.plan.plan import UNLIMITED
from gpop.plan.trace import GATHER_AT, SCATTER_AT

TURN, TURNS = 10, 5
"""Iterations of a turn, and turns of each way."""

BEHIND = 1.6, 1.25
"""The other way has no more turns if it took so many times as long in the first one, or in both of two."""

HELD_UP, NEARLY = 3.0, 0.98

FIRST = 40
"""Iterations before the first trial, at least."""

AGAIN = 4
"""How many times as long iterations go on before the next trial. It corrects one that fell into a bad moment,
and costs some milliseconds of a second or more."""

SOON = 32
"""A run that may reach a trial in so many iterations is begun by an engine that can change its way, which
takes 2 ms longer to begin on a graph of 4 million vertices. A later one goes on as it is. On a grid of that
size PageRank takes 2 iterations, and each call was taken to be near."""

FARTHEST = 3.0
"""A way that is expected to take so many times as long is not tried."""


class Trial:
    """Which of two ways a program takes on a graph, and what is known of their times.

    Attributes
    ----------
    way : str
        That of the next iteration.
    wait : float
        Seconds of iterations, since the beginning, before they take turns.
    trying : bool
        Whether they take turns; else ``way`` is taken until the next trial.
    affords : bool
        Whether somebody has seen to it that the other way can be tried; before that no turn begins.
    took : dict
        By way: the seconds of an iteration in the last trial, once it is over.

    Examples
    --------
    >>> trial = Trial("pull", "pc", wait=2.0)
    >>> records = np.zeros((10, GATHER_AT + 1))
    >>> for _ in range(4):
    ...     trial.note("pull", records, 0.5)
    >>> trial.affords = True
    >>> while trial.trying:
    ...     records[:, GATHER_AT] = {"pc": 0.2, "pull": 0.3}[trial.way]
    ...     trial.note(trial.way, records, 3.0)
    >>> trial.way, trial.told()
    ('pc', {'way': 'pc', 'by': 'times', 'pull': 0.3, 'pc': 0.2})
    """

    __slots__ = (
        "_done", "_is_first", "_other", "_seconds", "_spent", "_turns", "affords", "took", "trying", "wait",
        "way",
    )  # fmt: skip

    def __init__(self, way: str, other: str, wait: float) -> None:
        self.way, self._other, self.wait = way, other, wait
        self.trying, self.affords, self._is_first = False, False, True
        self.took: dict[str, float] = {}
        self._done, self._spent = 0, 0.0  # iterations, and the seconds that they took
        self._seconds: list[float] = []  # of the iterations of this turn
        self._turns: dict[str, list[float]] = {}

    @property
    def left(self) -> int:
        """Iterations until the way may change, as far as can be seen."""
        if self.trying:
            return TURN - len(self._seconds)
        rest, first = self.wait - self._spent, FIRST - self._done
        iterations = min(rest * self._done / self._spent, UNLIMITED) if self._spent > 0 else 0
        return max(1, first, math.ceil(iterations))

    def spend(self, iterations: int, seconds: float) -> None:
        """So many were done, in any way."""
        self._done += iterations
        self._spent += seconds
        if not self.trying and self._spent >= self.wait and self._done >= FIRST:
            self.trying, self._turns = True, {self.way: [], self._other: []}

    def note(self, way: str, records: np.ndarray, seconds: float) -> None:
        """These iterations were done so, which may be a turn, or part of one."""
        may = self.trying and self.affords and way == self.way
        self.spend(len(records), seconds)
        if may:
            self._seconds += (records[:, SCATTER_AT] + records[:, GATHER_AT]).tolist()
            if len(self._seconds) >= TURN:
                self.end_turn()

    def end_turn(self) -> None:
        """The other's turn begins, if one is over: a run may end before it is."""
        if self._seconds:
            self._turns[self.way].append(typical(self._seconds[1:] or self._seconds))
            self._seconds = []
            self.way, self._other = self._other, self.way
            self._decide()

    def _decide(self) -> None:
        """After a turn of each: that is all, if it is known who is faster."""
        (first, own), (second, others) = self._turns.items()
        if len(own) != len(others):
            return
        times = [other / one for one, other in zip(own, others, strict=True)]
        behind = len(times) <= len(BEHIND) and min(times) > BEHIND[len(times) - 1]
        if behind or len(times) == TURNS:
            self.way, self._other = (second, first) if statistics.median(times) < NEARLY else (first, second)
            self.took = {way: statistics.median(turns) for way, turns in self._turns.items()}
            self.trying, self._is_first, self.wait = False, False, (1 + AGAIN) * self._spent

    def is_near(self, limit: int) -> bool:
        """Whether a run of so many iterations may have a part in it, as far as can be seen.

        Examples
        --------
        >>> trial = Trial("pull", "pc", wait=1.0)
        >>> trial.spend(FIRST - 10, 2.0)
        >>> trial.is_near(10), trial.is_near(11)
        (False, True)
        """
        return self.trying or self.left < min(limit, SOON)

    def quiet(self) -> float:
        """Seconds of iterations for which no run needs to ask whether a trial is near."""
        return self.wait - self._spent - SOON * self._spent / max(1, self._done)

    def hurry(self, wait: float) -> None:
        """The first trial costs less by now: somebody has paid for it."""
        if self._is_first:
            self.wait = min(self.wait, wait)

    def put_off(self, wait: float) -> None:
        """The first trial, which was to begin, costs more than was thought, if less than so much was done."""
        self.trying, self.wait, self.affords = False, wait, self._spent >= wait

    def end_without(self, way: str) -> str:
        """There is no room for what this way needs; the other one, which is taken, whatever its time."""
        if way == self.way:
            self.way, self._other = self._other, self.way
        self.trying, self._is_first, self.wait = False, False, math.inf
        return self.way

    def told(self) -> dict[str, str | float]:
        """The way that comes next, by ``model``, ``times`` or, in a trial, ``turns``; and times it knows."""
        by = "turns" if self.trying else "times" if self.took else "model"
        return {"way": self.way, "by": by, **self.took}


def typical(seconds: list[float]) -> float:
    """What an iteration of these takes, but for what holds it up.

    >>> typical([1.0, 1.0, 2.0]), typical([1.0, 1.0, 40.0])
    (1.3333333333333333, 1.6666666666666667)
    """
    most = HELD_UP * statistics.median(seconds)
    return statistics.fmean(min(each, most) for each in seconds)


def trial_of(way: str, expected: dict[str, float], wait: float) -> Trial | None:
    """The trial of a program that the model has take this ``way``; None where the other is far behind by what
    is ``expected`` of an iteration.

    Examples
    --------
    >>> trial_of("pull", {"pull": 1.0, "pc": 3.1}, 2.0)
    >>> trial_of("pull", {"pull": 1.0, "pc": 2.9}, 2.0).left
    40
    """
    (other,) = expected.keys() - {way}
    return None if expected[other] > FARTHEST * expected[way] else Trial(way, other, wait)
