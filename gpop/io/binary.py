"""Large arrays from binary files: read in blocks by several threads into the final memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.errors import GraphFileError, UsageError
from gpop.common.parallel import for_each, ranges
from gpop.common.write_arrays import write_array

_PIECE = 1 << 21  # values read at a time


def fill(
    path: Path,
    position: int,
    stored: str,
    array: np.ndarray,
    bar: Any,
    n: int | None = None,
    faults: dict[int, str] | None = None,
) -> None:
    """Read ``len(array)`` values stored as ``stored`` into ``array``; ids not below n become ``faults``."""
    kind = np.dtype(stored)
    pieces = ranges(len(array), _PIECE)

    def read(i):
        first, last = pieces[i]
        same = kind.itemsize == array.itemsize
        target = array[first:last].view(kind) if same else np.empty(last - first, kind)
        with open(path, "rb", buffering=0) as file:
            file.seek(position + first * kind.itemsize)
            room = memoryview(target).cast("B")
            while len(room):
                count = file.readinto(room)
                if not count:
                    raise GraphFileError(f"{path}: ends early, it shrank while it was read")
                room = room[count:]
        if n is not None and target.max() >= n:
            at = int(np.argmax(target >= n))
            faults[i] = f"edge {first + at} leads to vertex {target[at]}, expected an id below {n}"
        elif not same:
            array[first:last] = target
        bar.update(last - first)

    for_each(len(pieces), read)


def store(file: Any, array: np.ndarray, stored: str) -> None:
    """Write an array as ``stored``, converted block by block."""
    for first, last in ranges(len(array), _PIECE):
        write_array(array[first:last].astype(stored, copy=False), file)


def exact_weights(weights: np.ndarray, dtype: type, path: Path) -> np.ndarray:
    """The weights as an integer type, or UsageError when one would change."""
    if weights.dtype == dtype:
        return weights
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    outside = ~((weights >= low) & (weights <= high) & (weights == np.floor(weights)))
    if outside.any():
        e = int(outside.argmax())
        raise UsageError(
            f"{path}: weight {weights[e]} of edge {e} cannot be stored, expected integers in {low}..{high} "
            "(a text edge list, .wel, stores any weight)"
        )
    return weights.astype(dtype)
