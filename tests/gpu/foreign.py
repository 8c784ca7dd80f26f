"""Programs of a kind that no app here is of, with their starting state: what other people write.

NaN, infinities and both zeros under a minimum or maximum; sums that cancel, messages of 0 and messages
too short for their sum; gatherFunc that writes two fields; each declared and not, and with the ways in which
messages of inactive vertices are told apart. The last bit of a float sum depends on the order, so floats here
are multiples of 1/4 and small.
"""

from __future__ import annotations

import numpy as np

import gpop
from tests.gpu.cases import Case

FEW = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 5.0, -2.5, 1e30)


class Lowest(gpop.Program):
    """A minimum of floats, which a NaN does not change."""

    value = gpop.VertexField(np.float32)
    best = gpop.VertexField(np.float32, np.inf)

    def scatterFunc(self, node):
        return self.value[node]

    def gatherFunc(self, value, node):
        if value < self.best[node]:
            self.best[node] = value
            return True
        return False

    def filterFunc(self, node):
        return self.iteration < 3


class Highest(Lowest):
    """A maximum in float64, and that it rose: two fields."""

    value = gpop.VertexField(np.float64)
    best = gpop.VertexField(np.float64, -np.inf)
    rose = gpop.VertexField(np.bool_)

    def gatherFunc(self, value, node):
        if value > self.best[node]:
            self.best[node] = value
            self.rose[node] = True
            return True
        return False


class HighestEverywhere(Highest):
    """The same without a frontier."""

    all_active = True


class LowestScaled(Lowest):
    """Over edges with weights, of which some are 0: a message becomes NaN on its way."""

    def applyWeight(self, value, weight):
        return np.float32(value * np.float32(weight))


class Votes(gpop.Program):
    """A sum of -1, 0 and 1: many cancel, and whoever heard any is active."""

    vote = gpop.VertexField(np.int64)
    heard = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return self.vote[node]

    def gatherFunc(self, value, node):
        self.heard[node] += value
        return True

    def filterFunc(self, node):
        return self.iteration < 3


class FloatVotes(Votes):
    vote = gpop.VertexField(np.float32)
    heard = gpop.VertexField(np.float32)


class Applause(FloatVotes):
    """Messages of one sign cannot cancel."""


class Silence(FloatVotes):
    """Nothing but 0 is ever said, and heard."""


class MarkedVotes(FloatVotes):
    """Inactive vertices send a value of their own."""

    inactive_message = 9.0


class WeightedVotes(Votes):
    """0 times a weight arrives, too."""

    def applyWeight(self, value, weight):
        return value * np.int64(weight)


class NotedVotes(Votes):
    """gatherFunc writes two fields, so sums are pushed by folding or have an owner."""

    noted = gpop.VertexField(np.bool_)

    def gatherFunc(self, value, node):
        self.heard[node] += value
        self.noted[node] = True
        return True


class ShortVotes(Votes):
    """Messages of one byte, whose sums have more: they must not be combined in the type of the message."""

    vote = gpop.VertexField(np.int8)

    def scatterFunc(self, node):
        return self.vote[node]


class EveryVote(Votes):
    """Without a frontier."""

    all_active = True


def _special(program: gpop.Program, rng: np.random.Generator) -> None:
    program.value = rng.choice(SPECIAL, program.graph.n)


def _votes(program: gpop.Program, rng: np.random.Generator) -> None:
    program.vote = rng.integers(-1, 2, program.graph.n)


def _applause(program: gpop.Program, rng: np.random.Generator) -> None:
    program.vote = rng.integers(1, 4, program.graph.n)


def _loud(program: gpop.Program, rng: np.random.Generator) -> None:
    program.vote = rng.integers(50, 120, program.graph.n)


def _cases() -> dict[str, Case]:
    kinds = [
        (Lowest, "min", Case(None, _special, FEW, 4)),
        (Highest, "max", Case(None, _special, FEW, 4)),
        (HighestEverywhere, "max", Case(None, _special, None, 2)),
        (LowestScaled, "min", Case(None, _special, FEW, 4)),
        (Votes, "add", Case(None, _votes, FEW, 4)),
        (FloatVotes, "add", Case(None, _votes, FEW, 4)),
        (Applause, "add", Case(None, _applause, FEW, 4)),
        (Silence, "add", Case(None, frontier=FEW, iterations=4)),
        (MarkedVotes, "add", Case(None, _votes, FEW, 4)),
        (WeightedVotes, "add", Case(None, _votes, FEW, 4)),
        (NotedVotes, "add", Case(None, _votes, FEW, 4)),
        (ShortVotes, "add", Case(None, _loud, FEW, 4)),
        (EveryVote, "add", Case(None, _votes, None, 2)),
    ]
    found = {}
    for cls, combine, case in kinds:
        for declared in (combine, None):
            name = f"{cls.__name__}{'Combined' if declared else ''}"
            found[name] = case._replace(
                cls=type(name, (cls,), {"combine": declared, "__module__": cls.__module__})
            )
    return found


FOREIGN = _cases()
