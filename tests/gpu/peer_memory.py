"""Memory that several processes reach, as ``cudaMalloc`` and ``cudaIpc...`` give it: files mapped by all."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import mmap
import os
import tempfile
from pathlib import Path

_number = itertools.count()
_mapped: dict[int, mmap.mmap] = {}
_paths: dict[int, Path] = {}


def _map(path: Path) -> int:
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    _mapped[address] = mapped
    return address


def malloc(nbytes: int) -> int:
    """``cudaMalloc``."""
    path = Path(tempfile.gettempdir()) / f"gpop-test-peers-{os.getpid()}-{next(_number)}"
    path.write_bytes(bytes(nbytes))
    address = _map(path)
    _paths[address] = path
    atexit.register(path.unlink, missing_ok=True)
    return address


def free(address: int) -> None:
    """``cudaFree``."""
    _paths.pop(address).unlink()
    close(address)


def handle(address: int) -> bytes:
    """``cudaIpcGetMemHandle``."""
    return bytes(_paths[address])


def reach(handle: bytes) -> int:
    """``cudaIpcOpenMemHandle``."""
    return _map(Path(os.fsdecode(handle)))


def close(address: int) -> None:
    """``cudaIpcCloseMemHandle``; who holds the address may still look at it."""
    _mapped.pop(address)


def memset(address: int, value: int, nbytes: int) -> None:
    """``cudaMemset``."""
    ctypes.memset(address, value, nbytes)
