"""A graph and its layouts on disk, to be run from there: the folder ``NAME.mapped``.

One file for each array, in the types that kernels take, native byte order, nothing else in it:

| file | holds |
|---|---|
| ``indptr indices weights`` | CSR (`gpop.graph.graph`) |
| ``slots id_offsets sources ids id_weights`` | bins (`gpop.layout.bins`) |
| ``narrow`` | weights of CSR in the type that bins have them in, where it is another one |
| ``in_indptr in_indices in_weights`` | in-edges; not there where the graph equals its reverse |
| ``bounds first_block blocks refs targets block_weights`` | blocks of in-edges (`gpop.layout.edge_blocks`) |
| ``ids.npy`` | original ids, if there are some |

``header.json`` names format and version, sizes of the graph, what is known about it, of each array type and
length, and of each file a mark: the hash of `SAMPLES` pages of it. It ends in a hash of itself, and is
written last.

The folder is written under another name and renamed when all is on the disk; what stood there is exchanged
for it in one step, and runs that have it open keep it. On opening, the header, the lengths of all files and
their marks are checked, and the arrays of offsets, which are read whole, must ascend. So a file that is
truncated, missing, of another version or of another graph is refused; a changed byte between the samples is
not seen, since seeing it would be reading it all: `check` does.

Opened arrays are mapped copy-on-write: nobody can change the file through them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.array_hash import hash_array
from gpop.common.errors import GraphFileError
from gpop.common.replacing_folder import sync
from gpop.common.spill import mapped
from gpop.graph.validate import offsets_fault

SUFFIX, HEADER = ".mapped", "header.json"
FORMAT, VERSION = "gpop mapped graph", 1
SAMPLES, PAGE = 16, 4096
NAMES = "ids.npy"


def mark_of(path: Path) -> str:
    """Hash of a file's length and of pages spread evenly over it."""
    size = path.stat().st_size
    starts = np.unique(np.linspace(0, max(0, size - PAGE), SAMPLES).astype(np.int64))
    with open(path, "rb", buffering=0) as file:
        found = b"".join(os.pread(file.fileno(), PAGE, start) for start in starts.tolist())
    return f"{hash_array(np.frombuffer(found + size.to_bytes(8, 'little'), np.uint8)):016x}"


def hash_of(path: Path) -> str:
    """Hash of all bytes of a file, read piece by piece."""
    hashes = []
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(1 << 24):
            hashes.append(hash_array(np.frombuffer(piece, np.uint8)))
    return f"{hash_array(np.array(hashes, np.uint64)):016x}"


def write_header(folder: Path, said: dict[str, Any], arrays: dict[str, np.dtype]) -> None:
    """Write the header for the files that lie in the folder; all of it is on the disk then."""
    listed = {}
    for name, dtype in arrays.items():
        path, dtype = folder / name, np.dtype(dtype)
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        size = path.stat().st_size // dtype.itemsize
        listed[name] = {"type": dtype.str, "size": size, "mark": mark_of(path), "hash": hash_of(path)}
    names, marked = folder / NAMES, None
    if names.is_file():
        marked = {"bytes": names.stat().st_size, "mark": mark_of(names), "hash": hash_of(names)}
    said = {"format": FORMAT, "version": VERSION, **said, "arrays": listed, "names": marked}
    text = json.dumps(said | {"own": _own(said)}, indent=1) + "\n"
    with open(folder / HEADER, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    sync(folder)


def _own(said: dict[str, Any]) -> str:
    text = json.dumps(said, sort_keys=True).encode()
    return f"{hash_array(np.frombuffer(text, np.uint8)):016x}"


def read_header(folder: Path) -> dict[str, Any]:
    """What the header says, after a look at every file.

    Raises
    ------
    GraphFileError
        One line: which file, what is wrong, what was expected.
    """
    if not folder.is_dir():
        raise GraphFileError(f"{folder}: expected a folder that python -m gpop.convert --layout has written")
    path = folder / HEADER
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise GraphFileError(f"{path}: is no file, expected the header of a {FORMAT}")
        said = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GraphFileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise GraphFileError(f"{path}: is no header of a {FORMAT}, or is truncated")
    if said.get("version") != VERSION:
        raise GraphFileError(
            f"{path}: format version {said.get('version')}, expected {VERSION}: write it anew with "
            "python -m gpop.convert --layout"
        )
    if said.pop("own", None) != _own(said):
        raise GraphFileError(f"{path}: was changed after it had been written, expected the header as it was")
    for name, (expected, mark, _) in _files(said).items():
        file = folder / name
        if not file.is_file():
            raise GraphFileError(f"{file}: is missing, expected {expected} bytes")
        found = file.stat().st_size
        if found != expected:
            how = "truncated" if found < expected else "of another graph"
            raise GraphFileError(f"{file}: {how}: {found} bytes, expected {expected}")
        if mark_of(file) != mark:
            raise GraphFileError(f"{file}: is not what was written for this graph, expected its mark {mark}")
    return said


def _files(said: dict[str, Any]) -> dict[str, tuple[int, str, str]]:
    """(bytes, mark, hash) of every file of the graph; earlier versions said nothing of names."""
    files = {
        name: (array["size"] * np.dtype(array["type"]).itemsize, array["mark"], array["hash"])
        for name, array in said["arrays"].items()
    }
    if said.get("names"):
        files[NAMES] = tuple(said["names"][what] for what in ("bytes", "mark", "hash"))
    return files


def check(folder: Path) -> None:
    """Read all of a graph on disk and compare it with the hashes in its header.

    Raises
    ------
    GraphFileError
        If a byte is another one.
    """
    for name, (_, _, expected) in _files(read_header(folder)).items():
        if hash_of(folder / name) != expected:
            raise GraphFileError(f"{folder / name}: is damaged, expected the bytes that were written")


class MappedArrays:
    """The arrays of a graph on disk. ``said``: its header; arrays that are not there are empty."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, read_header(folder)
        self.arrays = {
            name: mapped(folder / name, np.dtype(array["type"]))
            for name, array in self.said["arrays"].items()
        }
        for name, size in (("indptr", self["indices"].size), ("in_indptr", self["indices"].size),
                           ("slots", self["sources"].size), ("id_offsets", self["ids"].size)):  # fmt: skip
            fault = offsets_fault(self[name], size) if name in self.arrays else None
            if fault:
                raise GraphFileError(f"{folder / name}: {fault}")

    def __getitem__(self, name: str) -> np.ndarray:
        found = self.arrays.get(name)
        return np.empty(0, np.uint32) if found is None else found

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())
