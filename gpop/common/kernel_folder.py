"""Where kernels are kept on disk: their machine code (machine_code.py), and what Numba keeps of them.

The folder that ``NUMBA_CACHE_DIR`` names, else ``__pycache__`` beside the compiled modules, else the user's
cache folder. Where that cannot be written (an image, an installation that many share) each process loads what
it finds there and compiles the rest for itself; it keeps nothing, and says so once.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from gpop.common.errors import GpopError
from gpop.common.user_folder import user_folder

SETTINGS = "NUMBA_CACHE_DIR or XDG_CACHE_HOME"
"""What people can set to a folder that can be written."""


@cache
def code_folder(file: str) -> Path | None:
    """Where the machine code of this file's kernels is kept; None for a user without folders."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return Path(asked, "gpop_code")
    beside = Path(file).parent / "__pycache__"
    for place in (beside, beside.parent):
        if place.is_dir():
            if os.access(place, os.W_OK):
                return beside
            break
    user = user_folder()
    return user and user / "code"


def numba_folder(file: str) -> str:
    """What Numba is to be told to keep this file's kernels in; empty where it finds the folder by itself.

    It takes an ``XDG_CACHE_HOME`` that is empty or relative for a folder in the current one.
    """
    user = user_folder()
    return str(user.parent / "numba") if user and code_folder(file) == user / "code" else ""


def can_keep(file: str) -> bool:
    """Whether the folder for this file's kernels is there, or can be made, and can be written."""
    place = code_folder(file)
    if place is None:
        return False
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    return os.access(place, os.W_OK)


def require_folder(file: str) -> None:
    """Refuse where the code of this file's kernels cannot be kept.

    Raises
    ------
    GpopError
    """
    if not can_keep(file):
        raise GpopError(f"{_unwritable(file)}: what is compiled would not be kept")


def tell_not_kept(file: str) -> None:
    """Warn, once in a process, that this file's kernels are compiled for this process only."""
    _tell(f"{_unwritable(file)}: what is compiled is for this process only; to keep it, set {SETTINGS}")


@cache
def _tell(message: str) -> None:
    # A place without a line of code: the whole warning is one line.
    warnings.warn_explicit(message, RuntimeWarning, "gpop", 0)


def _unwritable(file: str) -> str:
    place = code_folder(file)
    return "no folder for kernels is known" if place is None else f"{place} cannot be written"
