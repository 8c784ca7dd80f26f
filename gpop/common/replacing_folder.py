"""Folders appear whole or not at all: write to another name beside the target, then rename.

What stood there is exchanged for it in one step, and processes that have its files open keep them. Only a
folder of the same kind is replaced, one with the same index in it, or one that is empty.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpop.common.errors import GraphFileError

_EXCHANGE, _HERE = 2, -100  # of renameat2


@contextmanager
def replacing_folder(path: Path, index: str) -> Iterator[Path]:
    """Yield a folder beside ``path`` to write to; it takes the place of ``path`` when all went well.

    Of a symbolic link it is what the link points to. What builds that were killed have left beside it is
    removed first.
    """
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{target.name}.*"):
        if _is_over(left):
            shutil.rmtree(left, ignore_errors=True)
    temporary = target.with_name(f".{target.name}.{threading.get_native_id()}.{os.getpid()}")
    try:
        if path.exists() and not (path.is_dir() and ((path / index).exists() or not any(path.iterdir()))):
            raise GraphFileError(
                f"{path}: is something else, expected a folder with {index} to replace, or nothing"
            )
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        _exchange(temporary, target)
        sync(target.parent)
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def sync(folder: Path) -> None:
    """Return when the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_over(left: Path) -> bool:
    """Whether the process that a temporary folder is named after has ended."""
    number = left.name.rpartition(".")[2]
    if not number.isdecimal():
        return False
    with suppress(PermissionError):
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
    return False


def _exchange(new: Path, path: Path) -> None:
    """Give ``new`` the name ``path``; what is there gets the other name, in one step where the system can."""
    try:
        os.rename(new, path)  # asked first, another process could write the same meanwhile
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    with suppress(AttributeError):
        ends = os.fsencode(new), os.fsencode(path)
        if ctypes.CDLL(None).renameat2(_HERE, ends[0], _HERE, ends[1], _EXCHANGE) == 0:
            return
    old = new.with_name(new.name.replace(path.name, path.name + "-old"))
    os.rename(path, old)
    os.rename(new, path)
    shutil.rmtree(old, ignore_errors=True)
