"""Kernels that another test worker has compiled already: taken from its JIT cache, not compiled again.

Every worker has a folder of its own and writes there only. What is missing there is looked for in the same
place of the other workers' folders, and copied: machine code by its file name, what Numba keeps by its key.
Both stand for all that decides what a kernel is, and files appear there when they are whole.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

from gpop.common import machine_code


def take_kernels(own: Path) -> None:
    """Have this process find what the workers whose folders stand beside ``own`` have compiled."""
    load_code, load_kept = machine_code._load, IndexDataCacheFile.load

    def load_or_take_code(place: Path | None) -> tuple[int, int] | None:
        if place is not None and not place.exists():
            for other in _elsewhere(place, own):
                place.parent.mkdir(parents=True, exist_ok=True)
                _link(other, place)
        return load_code(place)

    def load_or_take_kept(file: IndexDataCacheFile, key: tuple) -> Any:
        found = load_kept(file, key)
        if found is None:
            for other in _elsewhere(Path(file._index_path), own):
                beside = IndexDataCacheFile(str(other.parent), other.stem, file._source_stamp)
                found = load_kept(beside, key)
                if found is not None:
                    file.save(key, found)
                    break
        return found

    machine_code._load, IndexDataCacheFile.load = load_or_take_code, load_or_take_kept


def _elsewhere(place: Path, own: Path) -> list[Path]:
    """The same place in the folders of others, where there is something."""
    if not place.is_relative_to(own) or not own.parent.is_dir():
        return []
    inside = place.relative_to(own)
    return [each / inside for each in own.parent.iterdir() if each != own and (each / inside).exists()]


def _link(file: Path, name: Path) -> None:
    with suppress(FileExistsError):  # another thread was first
        os.link(file, name)
