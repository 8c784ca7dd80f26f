"""Errors of the library. Each message is one line: what is wrong, where, and what was expected.

Command lines print ``gpop: <message>`` on stderr and exit with code 2.
"""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def uncoloured(error: Exception) -> str:
    """What an error says, without the terminal's colour codes that Numba puts in where it finds colorama.

    Examples
    --------
    >>> uncoloured(ValueError("\\x1b[1mno such name\\x1b[0m"))
    'no such name'
    """
    return _COLOUR.sub("", str(error))


class GpopError(Exception):
    """Base of every error that the library raises on purpose."""


class GraphFileError(GpopError):
    """A graph file is missing, truncated, inconsistent or malformed."""


class UsageError(GpopError, ValueError):
    """An argument is outside what is allowed."""


class ProgramError(GpopError):
    """A vertex program breaks a rule of the interface.

    Parameters
    ----------
    message : str
        One line.
    detail : str, optional
        What the compiler said, many lines, where the message is about that.
    """

    def __init__(self, message: str, detail: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail


class NotEnoughMemory(GpopError, MemoryError):
    """The predicted memory is more than what is available; nothing was allocated."""
