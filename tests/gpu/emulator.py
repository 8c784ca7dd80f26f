"""A device for tests where there is none: NumPy in place of CuPy, and the kernels on the host (emulator.hpp).

The whole target runs as it is, its Python, its tables and its kernels, on one block of one warp; or, much
slower, on some blocks of some warps in an order that a seed decides (`racing`), where accesses that nothing
keeps in order are found. What only a device can show, such as how long it takes, is left to the tests marked
``gpu``.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from gpop.gpu import calibrate, device, kernel, limits
from tests.gpu import peer_memory

WARP = 32
RUBBISH = np.uint8(0xA5)  # what an array is full of that nobody has filled
SHARED = "extern __shared__ __align__(16) unsigned char shared_memory[];"
CLOCK = re.compile(r'asm volatile\("mov\.u64 %0, %%globaltimer;" : "=l"\(t\)\);')
CLUSTERS = (("#else\n  __syncthreads();\n#endif", "#else\n  warp::meet_grid();\n#endif"),
            ("return own;\n#endif", "return warp::on_block(own, block);\n#endif"))  # fmt: skip
"""What kernels do where there are no clusters of blocks, and what here."""

KERNEL = re.compile(r'extern "C" __global__ void (?:__\w+__\([^)]*\)\s*)*(\w+)\(([^)]*)\)')


class Array(np.ndarray):
    """A host array with what is used of CuPy's."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__array_interface__

    @property
    def data(self) -> SimpleNamespace:
        return SimpleNamespace(ptr=self.ctypes.data)

    def set(self, values: np.ndarray, stream: Any = None) -> None:
        self[...] = values

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            return np.array(self)
        out[...] = self
        return out


class OutOfMemory(RuntimeError):
    """``cupy.cuda.memory.OutOfMemoryError``."""


class Pool:
    """``cupy.cuda.MemoryPool``: counts what lives in it, and refuses more than its limit."""

    current: Pool | None = None

    def __init__(self) -> None:
        self.used = self.peak = 0
        self.limit = 1 << 62

    def set_limit(self, size: int) -> None:
        self.limit = size

    malloc = property(lambda self: self)

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.peak

    def free_all_blocks(self) -> None:
        pass

    def _take(self, nbytes: int) -> None:
        self.used += nbytes
        self.peak = max(self.peak, self.used)

    @staticmethod
    def own(array: np.ndarray) -> Array:
        """The array in the memory of the pool that is current."""
        pool, nbytes = Pool.current, -(-array.nbytes // 512) * 512
        if pool is not None:
            if pool.used + nbytes > pool.limit:
                raise OutOfMemory(nbytes)
            pool._take(nbytes)
            weakref.finalize(array, pool._take, -nbytes)
        return array.view(Array)


@contextmanager
def using(pool: Pool) -> Iterator[None]:
    """``cupy.cuda.using_allocator``."""
    before, Pool.current = Pool.current, pool
    try:
        yield
    finally:
        Pool.current = before


class Stream:
    """A stream on which everything is done at once."""

    ptr = 0

    def __init__(self, non_blocking: bool = False) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass


class Device:
    """The only one."""

    id, compute_capability = 0, "90"
    attributes: ClassVar = {"MultiProcessorCount": 1, "MaxSharedMemoryPerBlockOptin": 227 << 10}

    def use(self) -> None:
        """It is in use."""

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: Any) -> None:
        """It still is."""


class Event:
    """An event of a stream that has always run dry."""

    def record(self) -> None:
        pass

    def synchronize(self) -> None:
        pass


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
    whole = "\n".join(
        [(here / lanes).read_text(), (here / "emulator.hpp").read_text(), text, entries(source)]
    )
    command = [compiler, "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-fPIC"]
    if "clang" not in compiler:
        command.append("-fno-gnu-unique")  # constants of a template are those of this library
    watched = ["-fsanitize=thread", "-fno-threadsafe-statics"] if watchers else []
    if watchers and "clang" not in compiler:
        watched.append("--param=tsan-distinguish-volatile=1")
    key = " ".join([*command, *watched, whole, *((here / watcher).read_text() for watcher in watchers)])
    folder = Path(tempfile.gettempdir()) / f"gpop-test-emulator-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    library = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as own:
            (Path(own) / "engine.cpp").write_text(whole)
            subprocess.run([*command, *watched, "-c", "engine.cpp"], cwd=own, check=True)
            for watcher in watchers:
                subprocess.run(
                    [*command, "-O2", "-U_FORTIFY_SOURCE", "-c", here / watcher], cwd=own, check=True
                )
            # Tables of those who watch are there before anything is watched.
            objects = [Path(name).with_suffix(".o").name for name in (*watchers, "engine.cpp")]
            subprocess.run([*command, "-shared", *objects, "-o", "engine.so"], cwd=own, check=True)
            os.replace(Path(own) / "engine.so", library)
    return ctypes.CDLL(str(library))


def unfilled(size: int, dtype: Any) -> Array:
    """``cupy.empty``, with what nobody would take for a result."""
    return Pool.own(np.full((size, np.dtype(dtype).itemsize), RUBBISH).view(dtype)[:, 0])


def as_array(values: Any) -> Array:
    """``cupy.asarray``: a copy of what lies on the host, and the very memory of another library's array."""
    said = getattr(values, "__cuda_array_interface__", None)
    if said is None or isinstance(values, np.ndarray):
        return Pool.own(np.array(values))
    kind = SimpleNamespace(__array_interface__={**said, "version": 3})
    return np.asarray(kind).view(Array)


def numpy_as_cupy(module: type[Module]) -> SimpleNamespace:
    """A module that looks like CuPy on a device of one multiprocessor."""
    runtime = SimpleNamespace(
        runtimeGetVersion=lambda: 0,
        driverGetVersion=lambda: 0,
        CUDARuntimeError=RuntimeError,
        getDevice=lambda: Device.id,
        getDeviceCount=lambda: 1,
        getDeviceProperties=lambda index: {"name": b"emulator"},
        deviceGetPCIBusId=lambda index: "0000:00:00.0",
        memGetInfo=lambda: (1 << 40, 1 << 40),
        malloc=peer_memory.malloc,
        free=peer_memory.free,
        memset=peer_memory.memset,
        memsetAsync=lambda to, value, size, stream: ctypes.memset(to, value, size),
        ipcGetMemHandle=peer_memory.handle,
        ipcOpenMemHandle=peer_memory.reach,
        ipcCloseMemHandle=peer_memory.close,
        deviceSynchronize=lambda: None,
        memcpyHostToDevice=1,
        memcpyDeviceToHost=2,
        memcpyAsync=lambda to, of, size, kind, stream: ctypes.memmove(to, of, size),
        streamSynchronize=lambda stream: None,
    )
    return SimpleNamespace(
        ndarray=Array,
        zeros=lambda shape, dtype: Pool.own(np.zeros(shape, dtype)),
        empty=unfilled,
        asarray=as_array,
        cumsum=lambda values: Pool.own(np.cumsum(values)),
        RawModule=module,
        RawKernel=lambda code, name, options: Module(code).get_function(name),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None),
        cuda=SimpleNamespace(
            MemoryPool=Pool,
            using_allocator=using,
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemory),
            alloc_pinned_memory=lambda nbytes: np.zeros(nbytes, np.uint8),
            Event=Event,
            Stream=Stream,
            get_current_stream=lambda: SimpleNamespace(ptr=0),
            get_elapsed_time=lambda begin, end: 0.0,
            Device=lambda *index: Device(),
            runtime=runtime,
            driver=SimpleNamespace(
                funcSetAttribute=lambda kernel, attribute, value: None,
                launchKernel=lambda kernel, *given: run_at(kernel, given[-2], given[0], given[3]),
                launchCooperativeKernel=lambda kernel, *given: run_at(kernel, given[-1], given[0], given[3]),
            ),
        ),
    )


@contextmanager
def emulated(module: type[Module] = Module) -> Iterator[None]:
    """``target="gpu"`` runs on the emulator. What is known of devices is forgotten before and after."""
    caches = (device.cupy, device._device, kernel._compiled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", numpy_as_cupy(module))
        patch.setattr(limits, "BLOCK_THREADS", WARP)
        for cache in caches:
            cache.cache_clear()
        try:
            yield
        finally:
            for cache in caches:
                cache.cache_clear()


@contextmanager
def racing(seed: int, blocks: int = 4, threads: int = 2 * WARP, compares: bool = False) -> Iterator[None]:
    """The same on so many blocks of so many threads, of which another goes on after some accesses to memory."""
    with pytest.MonkeyPatch.context() as patch, emulated(Racing):
        patch.setattr(Racing, "seed", seed)
        patch.setattr(Racing, "compares", compares)
        patch.setitem(Device.attributes, "MultiProcessorCount", blocks)
        patch.setattr(limits, "BLOCK_THREADS", threads)
        patch.setattr(limits, "ONE_BLOCK", 0)
        patch.setattr(limits, "CLUSTER", blocks)
        patch.setattr(
            calibrate, "device_ratio", lambda engine: 1.0
        )  # measured on a graph that takes for ever here
        yield
