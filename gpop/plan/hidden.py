"""How messages of inactive vertices are kept from gatherFunc where a partition sends for all its vertices.

In partition-centric mode inactive vertices send too. A program that declares nothing is safe: each
message carries a mark that says whether its vertex is active.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import ProgramError
from gpop.program.fields import HARMLESS
from gpop.program.program import Program

MASK_NONE, MASK_VALUE, MASK_SENT = range(3)
"""Nothing is hidden (harmless, or nobody is inactive); by a value that no active vertex sends; by a mark."""


class Hidden(NamedTuple):
    """One of the codes above, and the value of `MASK_VALUE` in the type of the messages."""

    mask: int
    value: Any = None


def hidden_of(cls: type[Program], message: np.dtype) -> Hidden:
    """What a program declares.

    Raises
    ------
    ProgramError
        If ``inactive_message`` changes its value in the type of the messages.

    Examples
    --------
    >>> hidden_of(Program, np.dtype(np.uint32))
    Hidden(mask=2, value=None)
    """
    declared = cls.inactive_message
    if cls.all_active or declared is HARMLESS:
        return Hidden(MASK_NONE)
    if declared is None:
        return Hidden(MASK_SENT)
    try:
        value = message.type(declared)
    except (OverflowError, TypeError, ValueError):
        value = None
    if value is None or (value != declared and message.kind != "f"):
        name = f"{cls.__name__}.inactive_message"
        raise ProgramError(f"{name} = {declared!r}: messages are {message}, expected a value of that type")
    return Hidden(MASK_VALUE, value)
