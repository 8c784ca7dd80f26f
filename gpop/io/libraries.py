"""Readers of other libraries: whatever they raise becomes one line of a GraphFileError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpop.common.errors import GraphFileError, NotEnoughMemory, UsageError


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Run a library's reader of ``what``; files can make it raise anything."""
    try:
        yield
    except (GraphFileError, NotEnoughMemory):
        raise
    except UsageError as error:
        raise GraphFileError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise GraphFileError(f"{path}: cannot be read: No such file or directory") from None
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise GraphFileError(f"{path}: is not {what}: {lines[0][:200]}") from None


def demand_weights(path: Path, has_weights: bool, weighted: bool | None) -> None:
    """GraphFileError when weights are demanded of a file that has none."""
    if weighted and not has_weights:
        raise GraphFileError(f"{path}: has no weights, expected a weighted graph")
