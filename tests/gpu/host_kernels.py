"""Kernels as shared libraries of the host: how they are compiled and called, and who runs when.

On one block of one warp (one_warp.hpp), or, much slower, on several blocks of several warps in an order that
a seed decides (many_blocks.hpp), where accesses that nothing keeps in order are found.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

SHARED = "extern __shared__ __align__(16) unsigned char shared_memory[];"
CLOCK = re.compile(r'asm volatile\("mov\.u64 %0, %%globaltimer;" : "=l"\(t\)\);')
CLUSTERS = (("#else\n  __syncthreads();\n#endif", "#else\n  warp::meet_grid();\n#endif"),
            ("return own;\n#endif", "return warp::on_block(own, block);\n#endif"))  # fmt: skip
"""What kernels do where there are no clusters of blocks, and what here."""

LINKER = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
"""The other one takes three times as long."""

KERNEL = re.compile(r'extern "C" __global__ void (?:__\w+__\([^)]*\)\s*)*(\w+)\(([^)]*)\)')


class Array(np.ndarray):
    """A host array with what is used of CuPy's."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__array_interface__

    @property
    def data(self) -> SimpleNamespace:
        owner = self
        while isinstance(owner.base, Array):
            owner = owner.base
        return SimpleNamespace(ptr=self.ctypes.data, device_id=0, mem=owner)

    def set(self, values: np.ndarray, stream: Any = None) -> None:
        self[...] = values

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            return np.array(self)
        out[...] = self
        return out


class Kernel:
    """One kernel of a library, called as CuPy calls it; grid and block are those of the emulator."""

    kernel = property(lambda self: self)

    def __init__(self, function: Any, name: str = "") -> None:
        self.function, self.name = function, name
        self.ptr = ctypes.cast(function, ctypes.c_void_p).value

    def __call__(self, grid: tuple, block: tuple, arguments: tuple, shared_mem: int = 0) -> None:
        # Structs and numbers go by value, arrays by their address. CuPy takes one item only as a value.
        assert all(isinstance(each, Array) or np.size(each) == 1 for each in arguments)
        values = [
            np.array([each.ctypes.data], np.uint64) if isinstance(each, Array) else np.atleast_1d(each)
            for each in arguments
        ]
        run_at(
            self.ptr, (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values)), *grid, *block
        )


ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


def run_at(function: int, arguments: Any, blocks: int, threads: int) -> None:
    """A kernel by its address, with the addresses of its arguments."""
    assert ENTRY(function)(ctypes.cast(arguments, ctypes.c_void_p), blocks, threads), (
        "a lane waits at a barrier for others that do not come"
    )


class Module:
    """``cupy.RawModule``: a shared library, kept by its source.

    Attributes
    ----------
    lanes : str
        The file that says who runs when.
    watchers : tuple of str
        Files whose functions are called before every access to memory.
    """

    lanes, watchers = "one_warp.hpp", ()

    def __init__(self, code: str, **options: Any) -> None:
        self.library = build(code, self.lanes, self.watchers)

    def get_function(self, name: str) -> Kernel:
        return Kernel(getattr(self.library, f"emulate_{name}"), name)


class Racing(Module):
    """One whose kernels run on several blocks, in an order that ``seed`` decides.

    ``compares``: accesses that nothing keeps in order are noted (happens_before.cpp), for `take_races`.
    """

    lanes, watchers = "many_blocks.hpp", ("many_blocks.cpp", "happens_before.cpp")
    seed, compares = 0, False
    libraries: ClassVar[list] = []

    def __init__(self, code: str, **options: Any) -> None:
        super().__init__(code, **options)
        self.library.set_order(ctypes.c_ulonglong(self.seed), self.compares)
        self.libraries.append(self.library)


def take_races() -> list[str]:
    """What was noted since this was called last."""
    found, text = [], ctypes.create_string_buffer(1 << 16)
    for library in Racing.libraries:
        if library.races(text, len(text)):
            found += text.value.decode().splitlines()
    Racing.libraries.clear()
    return found


def entries(source: str) -> str:
    """A C entry per kernel that takes the addresses of its arguments."""
    found = []
    for name, parameters in KERNEL.findall(source):
        kinds = [re.sub(r"\w+$", "", parameter.strip()) for parameter in parameters.split(",")]
        values = ", ".join(f"*(std::decay_t<{kind}>*)given[{i}]" for i, kind in enumerate(kinds))
        found.append(
            f'extern "C" int emulate_{name}(void** given, int blocks, int threads) {{\n'
            f"  return warp::launch([=] {{ {name}({values}); }}, blocks, threads);\n}}"
        )
    return "\n".join(found)


def kept(key: str, suffix: str, make: Callable[[Path], Any]) -> Path:
    """The file of this key among those that are kept; ``make`` writes one that is missing where it is told.

    Two workers may do so at the same time: only what is whole takes its place.
    """
    folder = Path(tempfile.gettempdir()) / f"gpop-test-emulator-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    found = folder / f"{hashlib.sha256(key.encode()).hexdigest()}{suffix}"
    if not found.exists():
        with tempfile.TemporaryDirectory(dir=folder) as own:
            make(Path(own) / found.name)
            os.replace(Path(own) / found.name, found)
    return found


def prelude(text: str, command: list[str]) -> Path:
    """A header that is read before a source; g++ has it compiled, since that is half of a library's time."""
    key = " ".join([*command, text])
    header = kept(key, ".hpp", lambda path: path.write_text(text))
    if "clang" not in command[0]:  # which knows it by its name, and reads the text where it does not fit
        kept(
            key, ".hpp.gch",
            lambda path: subprocess.run([*command, "-x", "c++-header", header, "-o", path], check=True),
        )  # fmt: skip
    return header


def watching(watcher: Path, command: list[str]) -> Path:
    """Who watches is compiled once for all libraries that are watched."""
    command = [*command, "-O2", "-U_FORTIFY_SOURCE", "-c"]
    texts = [path.read_text() for path in (watcher, *sorted(watcher.parent.glob("*.hpp")))]
    return kept(
        " ".join([*command, *texts]), ".o",
        lambda path: subprocess.run([*command, watcher, "-o", path], check=True),
    )  # fmt: skip


def build(source: str, lanes: str, watchers: tuple[str, ...]) -> ctypes.CDLL:
    """The kernels of a source for the host; see `Module`."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    here = Path(__file__).parent
    text = CLOCK.sub("t = host_ns();", source)
    text = text.replace(SHARED, "alignas(16) __shared__ unsigned char shared_memory[SHARED_BYTES];")
    for without, instead in CLUSTERS:
        text = text.replace(without, instead)
    text = f"{text}\n{entries(source)}"
    command = [compiler, "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-fPIC"]
    if "clang" not in compiler:
        command.append("-fno-gnu-unique")  # constants of a template are those of this library
    watched = ["-fsanitize=thread", "-fno-threadsafe-statics"] if watchers else []
    if watchers and "clang" not in compiler:
        watched.append("--param=tsan-distinguish-volatile=1")
    needs = "\n".join((here / name).read_text() for name in (lanes, "emulator.hpp"))
    header = prelude(needs, [*command, *watched])
    # Tables of those who watch are there before anything is watched.
    objects = [watching(here / watcher, command) for watcher in watchers]

    def make(library: Path) -> None:
        engine = library.with_name("engine.cpp")
        engine.write_text(text)
        compiled = engine.with_suffix(".o")
        subprocess.run([*command, *watched, "-include", header, "-c", engine, "-o", compiled], check=True)
        subprocess.run([*command, *LINKER, "-shared", *objects, compiled, "-o", library], check=True)

    key = " ".join([*command, *watched, header.name, text, *(each.name for each in objects)])
    return ctypes.CDLL(str(kept(key, ".so", make)))
