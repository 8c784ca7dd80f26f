"""Files appear whole or not at all: write to a temporary name beside the target, then rename.

Of a symbolic link the target is what it points to. What is there and is no regular file, such as a device
or a FIFO, is nothing that a file may take the place of: it is written to as it is.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpop.common.errors import GraphFileError


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Yield a path to write to: a temporary one, renamed to ``path`` when all went well; or a device."""
    path = Path(path)
    temporary = None
    try:
        if _is_device(path):
            yield path
            return
        target = Path(os.path.realpath(path))
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp's own mode is private
        os.replace(temporary, target)
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
