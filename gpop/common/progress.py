"""Progress bars: on stderr, on a terminal only, and without importing anything when not shown."""

from __future__ import annotations

import sys
from typing import Any


class _Silent:
    """Stands in for a bar that is not shown."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, amount=1):
        """Nothing to draw."""


def progress_bar(total: int | None, what: str, unit: str, enabled: bool):
    """A tqdm bar over ``total`` units when ``enabled`` and stderr is a terminal; a silent one otherwise."""
    if not enabled or not sys.stderr.isatty():
        return _Silent()
    from tqdm import tqdm

    return tqdm(total=total, desc=what, unit=unit, unit_scale=True, file=sys.stderr, leave=False)


class IterationBar:
    """Iterations done and the size of the frontier, or nothing."""

    def __init__(self, wanted: bool, limit: int | None) -> None:
        self.bar: Any = None
        if wanted:
            from tqdm import tqdm

            self.bar = tqdm(total=limit, unit="iteration", file=sys.stderr, leave=False)

    def __enter__(self) -> IterationBar:
        return self

    def show(self, iteration: int, frontier: int) -> None:
        """Move on to ``iteration``."""
        if self.bar is not None:
            self.bar.set_postfix(frontier=frontier, refresh=False)
            self.bar.update(iteration - self.bar.n)

    def __exit__(self, *exception: object) -> None:
        if self.bar is not None:
            self.bar.close()
