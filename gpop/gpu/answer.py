"""What one block of threads has written back at the end of a run: bytes, read when somebody looks at them.

The block that host and device exchange (`gpop.gpu.exchange`) is copied as one, before the next run writes
there: fields, and the trace behind Control. To find out what lies where is for who wants to know. Arrays are
views of the copy, which nobody else has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpop.gpu.left import Kept

Places = Mapping[str, tuple[int, int, np.dtype]]
"""Where arrays lie in the copy, by field: first byte, length, type."""


class Answer:
    """What a run has left (`gpop.plan.engine.Left`), of fields that lie in the block.

    ``trace_at``: where its records lie, and ``earlier`` are those of launches before the last one. It leads
    neither to the graph nor to memory of the device.
    """

    __slots__ = (
        "active", "data", "earlier", "frontier", "iterations", "nanoseconds", "places", "rows", "touched",
        "trace_at",
    )  # fmt: skip

    def __init__(self, places: Places, trace_at: tuple[int, int, int]) -> None:
        self.places, self.trace_at = places, trace_at
        self.data, self.earlier = bytearray(), list[np.ndarray]()

    def field(self, name: str) -> np.ndarray:
        """As the run has left it."""
        at, length, dtype = self.places[name]
        return np.frombuffer(self.data, dtype, length, at)

    @property
    def converged(self) -> bool:
        """Whether nothing is active."""
        return self.active == 0

    @property
    def seconds(self) -> float:
        """That the device was at work."""
        return 1e-9 * self.nanoseconds

    @property
    def records(self) -> list[np.ndarray]:
        """Of the trace."""
        at, columns, used = self.trace_at
        rows = np.frombuffer(self.data, np.float64, self.rows * columns, at).reshape(-1, columns)
        return [*self.earlier, rows[:, :used]]


class Answered(Kept):
    """A field that lies in an answer."""

    __slots__ = ("answer", "name")

    def __init__(self, answer: Answer, name: str) -> None:
        self.answer, self.name = answer, name

    @property
    def length(self) -> int:
        """Of the array."""
        return self.answer.places[self.name][1]

    @property
    def dtype(self) -> np.dtype:
        """Of the array."""
        return self.answer.places[self.name][2]

    def on_host(self) -> np.ndarray:
        """The array."""
        return self.answer.field(self.name)
