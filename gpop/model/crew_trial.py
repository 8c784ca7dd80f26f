"""Whether one thread or several search a graph faster, by the times of calls on it.

Threads that share a search write to the same lines. What that costs depends on how far cores are from each
other, on the graph and on what else the machine does, and none of these is known beforehand: two threads on
one machine took .56 to .79 of the time of one for shortest paths among 82,000 people, and 1.4 once the system
had put them on cores that are farther apart; on other machines up to 2.5. All find the same, whatever their
number, so that it may change from call to call, and nothing but time comes of it.

So calls go on as the model says (`gpop.model.sharing`) for a while. Then the two numbers of threads take
turns, and the other is taken from then on if it was clearly faster, until after many more calls there is
another trial. A turn is two calls, of which the second counts: the first one of several makes what they work
in, and the first one of either fetches what the other number has left in the caches of other cores. On two
Intel cores, by turns of one call, two threads seemed faster than one on points of a plane, and took 1.25 of
its time from then on. Who falls far behind in a turn has no more, and is tried again the later the farther
that was. Only searches of most of the graph count: others take what they take by where they begin.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from gpop.common.alike import is_shipped
from gpop.graph.kept import Kind

if TYPE_CHECKING:
    from gpop.graph.graph import Graph

FIRST, AGAIN = 2, 48
"""Calls before the first trial of several threads, and between trials and before one of fewer: those that the
model has share a search seldom should not."""

TURNS = 3
"""Of each number of threads."""

CALLS = 4 * TURNS - 1
"""Of a trial: the first one is like the one before it, and counts."""

BEHIND, NEARLY = 1.5, 0.95
"""So many times the time of the usual number is too much to go on; and clearly faster."""

COMPILED_AFTER_S = 40.0
"""Seconds of searches on a graph after which what threads share is compiled to be tried, where nothing
(`gpop.warm`) has done so before: that takes 1 to 4."""


class CrewTrial:
    """How many threads the next search has, and what is known of their times.

    Attributes
    ----------
    threads : int
        Of the next call.
    spent : float
        Seconds of all calls that count.
    took : dict
        By number of threads: seconds of a call in the last trial, once it is over.

    Examples
    --------
    >>> trial = CrewTrial(1, 2)
    >>> for _ in range(FIRST + CALLS):
    ...     trial.note(trial.threads, {1: 0.9, 2: 0.6}[trial.threads])
    >>> trial.threads, trial.took
    (2, {1: 0.9, 2: 0.6})
    """

    __slots__ = ("_at_once", "_left", "_other", "_ready", "_turns", "_usual", "spent", "threads", "took")

    def __init__(self, usual: int, other: int) -> None:
        self._usual, self._other = usual, other
        self.spent, self.took = 0.0, dict[int, float]()
        self._at_once = Lock()  # calls of several threads of Python
        self._wait(FIRST if usual < other else AGAIN)

    def _wait(self, calls: int) -> None:
        """Nothing is tried in so many calls."""
        self.threads, self._left, self._ready = self._usual, calls, True
        self._turns: dict[int, list[float]] = {self._usual: [], self._other: []}

    def wait_until(self, is_kept: Callable[[], bool]) -> None:
        """More threads are not tried before what they share is compiled, unless one has searched for long."""
        if self.threads > self._usual and self.spent < COMPILED_AFTER_S and not is_kept():
            with self._at_once:
                self._wait(AGAIN)

    def note(self, threads: int, seconds: float) -> None:
        """A call by so many threads took so long; one that ran beside another may not be whose turn it is."""
        with self._at_once:
            self.spent += seconds
            if threads != self.threads:
                return
            if self._left > 0:
                self._left -= 1
            elif not self._ready:
                self._ready = True
            else:
                self._turns[threads].append(seconds)
                self._end_turn()

    def _end_turn(self) -> None:
        """The other's begins, or all are over."""
        usual, other = self._turns[self._usual], self._turns[self._other]
        self.threads, self._ready = self._other if len(other) < len(usual) else self._usual, False
        behind = other[0] / usual[0] if len(other) == 1 else 1.0
        if behind > BEHIND or len(other) == TURNS:
            self.took = {threads: statistics.median(each) for threads, each in self._turns.items()}
            if self.took[self._other] < NEARLY * self.took[self._usual]:
                self._usual, self._other = self._other, self._usual
            self._wait(round(AGAIN * max(1.0, behind) ** 2))


def crew_trial(graph: Graph, of: str, usual: int, other: int) -> CrewTrial | None:
    """That of a kind of search on a graph, kept with it; ``usual`` is the number of threads by the model.

    None where every machine is to choose alike (`gpop.common.alike`).
    """
    if is_shipped():
        return None
    key = of, usual, other
    found = graph.store.get(Kind.TIMES, key)
    return graph.store.put(Kind.TIMES, CrewTrial(usual, other), key, holds=()) if found is None else found
