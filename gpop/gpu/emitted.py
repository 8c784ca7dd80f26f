"""What becomes of a program on its way to CUDA: text, and what the engine has to know about it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Emitted(NamedTuple):
    """A program in CUDA C++.

    ``source`` is `State`, `Copy` and the functions, to be compiled after `semantics`; ``message_dtype`` is
    what ``scatterFunc`` sends and ``gathered_dtype`` what ``gatherFunc`` gets; ``written`` are the fields
    that ``gatherFunc`` stores to; ``defined`` the functions that exist; ``state_dtype`` the layout of
    `State` (pointers as uint64), by the names of the program; ``written_dtypes`` the types of ``written``;
    ``settles`` whether the engine may ask for CHANGE and TOLERANCE (kernels/settling.cuh); ``extreme``: "min"
    or "max" where ``gatherFunc`` keeps that of its field and the message, and a device has an instruction for
    it.
    """

    source: str
    message_dtype: np.dtype
    gathered_dtype: np.dtype
    written: tuple[str, ...]
    defined: tuple[str, ...]
    state_dtype: np.dtype
    written_dtypes: tuple[np.dtype, ...]
    settles: bool
    extreme: str | None
