"""Ids, weights and sizes as users give them -> arrays of the final dtypes, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpop.common.arguments import plain
from gpop.common.errors import UsageError
from gpop.common.memory import require_memory

MOST_VERTICES = 2**32 - 2  # 0xFFFFFFFF marks "no vertex"


def as_size(n: Any) -> int:
    """A number of vertices; refuses what 32-bit ids cannot hold, and what does not fit in memory."""
    if not isinstance(n, int | np.integer):
        raise UsageError(f"n={n!r}: expected a number of vertices")
    n = int(n)
    if not 0 <= n <= MOST_VERTICES:
        raise UsageError(f"a graph of {n} vertices is not possible, expected 0..{MOST_VERTICES}")
    require_memory(8 * (n + 1), f"a graph of {n} vertices")
    return n


def as_ids(ids: Any, what: str) -> np.ndarray:
    """One-dimensional array of non-negative ids as uint32 or int64, without a copy where possible."""
    try:
        ids = np.asarray(ids)
    except ValueError:  # lists of several lengths
        raise UsageError(f"{what} is no list of integers") from None
    if ids.size == 0:
        return np.empty(0, np.uint32)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise UsageError(f"{what} is {ids.dtype} {list(ids.shape)}, expected a list of integers")
    if ids.dtype.kind == "i" and ids.min() < 0:
        raise UsageError(f"{what}[{int(ids.argmin())}] is {ids.min()}, expected ids that are not negative")
    if ids.dtype.kind == "u" and ids.dtype.itemsize == 8 and ids.max() >= 2**63:
        raise UsageError(f"{what}[{int(ids.argmax())}] is {ids.max()}, expected ids below 2^63")
    unsigned = np.uint32 if ids.dtype.itemsize <= 4 else np.int64
    if ids.dtype.itemsize < 4 or not ids.dtype.isnative:
        ids = ids.astype(unsigned)
    return np.ascontiguousarray(ids).view(unsigned)


def as_names(names: Any, n: int) -> np.ndarray:
    """What n vertices are called elsewhere: an array as it is, a list as integers or text where all are.

    Examples
    --------
    >>> as_names(["a", "b"], 2), as_names([7, "b"], 2)  # never changed into text
    (array(['a', 'b'], dtype='<U1'), array([7, 'b'], dtype=object))
    """
    if not np.iterable(names):
        raise UsageError(f"original_ids {plain(names)!r}: expected n = {n} ids or names")
    if not isinstance(names, np.ndarray):
        listed = [plain(name) for name in names]
        if {type(name) for name in listed} in ({int}, {str}):
            names = np.array(listed)
        else:
            names = np.empty(len(listed), object)
            for v, name in enumerate(listed):  # one by one: a slice would unpack names that are tuples
                names[v] = name
    if names.shape != (n,):
        raise UsageError(f"original_ids has {' x '.join(map(str, names.shape))} entries, expected n = {n}")
    return names


def whole_kept(given: Any, numbers: np.ndarray, what: str) -> np.ndarray:
    """The numbers that NumPy made of a list, without rounding whole ones: it takes 2**63 and 1 for floats."""
    if not isinstance(given, list | tuple) or numbers.dtype.kind != "f" or numbers.ndim != 1:
        return numbers
    large = [i for i in np.flatnonzero(np.abs(numbers) >= 2.0**53).tolist() if isinstance(given[i], int)]
    if large and all(isinstance(each, int) for each in given):
        if min(given) >= 0 and max(given) < 2**64:
            return np.array(given, np.uint64)
    for i in large:
        if int(numbers[i]) != given[i]:
            raise UsageError(f"{what} hold {given[i]}, expected whole numbers below 2^53 beside such others")
    return numbers


def as_weights(weights: Any, m: int) -> np.ndarray | None:
    """Contiguous numeric array of length m, or None."""
    if weights is None:
        return None
    given = weights
    try:
        weights = np.asarray(given)
    except ValueError:  # lists of several lengths
        raise UsageError(f"weights are no list of numbers, expected one for each of the {m} edges") from None
    weights = whole_kept(given, weights, "weights")
    if weights.shape != (m,):
        raise UsageError(f"weights have shape {list(weights.shape)}, expected one for each of the {m} edges")
    if weights.dtype.kind not in "iuf" or weights.dtype.itemsize > 8:
        raise UsageError(
            f"weights are {weights.dtype}, expected integers or floating-point numbers up to 64 bits"
        )
    if weights.dtype == np.float16:  # no arithmetic for it in compiled code
        weights = weights.astype(np.float32)
    return np.ascontiguousarray(weights, weights.dtype.newbyteorder("="))
