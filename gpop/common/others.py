"""What code below `gpop.ranks` may ask of the other processes of a job; `gpop.ranks.world.World` does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Others(Protocol):
    """All processes of a job; each calls these together with the others, and gets the same answer."""

    rank: int
    size: int

    def first_alone(self, work: Callable[[], object]) -> None:
        """Do a work in the first process and then in the others: they find what it has compiled."""
        ...

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of all arrays."""
        ...

    def most(self, array: np.ndarray) -> np.ndarray:
        """The largest of all arrays, element by element."""
        ...

    def joined(self, array: np.ndarray) -> np.ndarray:
        """All arrays, one after the other."""
        ...

    def first_ones(self, value: Any) -> Any:
        """What the first process gives."""
        ...
