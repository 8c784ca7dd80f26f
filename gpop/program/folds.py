"""What a fold begins with: the value that leaves every other as it is."""

from __future__ import annotations

import numpy as np


def identity(combine: str | None, dtype: np.dtype) -> np.generic:
    """The identity of a fold in a type; 0 for "add" and "or", and where nothing is combined.

    Examples
    --------
    >>> identity("min", np.dtype(np.uint8)), identity("max", np.dtype(np.float32))
    (np.uint8(255), np.float32(-inf))
    >>> identity("min", np.dtype(bool)), identity("add", np.dtype(np.int64))
    (np.True_, np.int64(0))
    """
    if combine not in ("min", "max"):
        return dtype.type(0)
    if dtype.kind == "b":
        return dtype.type(combine == "min")
    if dtype.kind == "f":
        return dtype.type(np.inf if combine == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if combine == "min" else limits.min)
