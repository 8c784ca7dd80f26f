"""A device for tests where there is none: NumPy in place of CuPy, and the kernels on the host (emulator.hpp).

The whole target runs as it is, its Python, its tables and its kernels, on one block of one warp; or, much
slower, on some blocks of some warps in an order that a seed decides (`racing`), where accesses that nothing
keeps in order are found. What only a device can show, such as how long it takes, is left to the tests marked
``gpu``.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from gpop.gpu import calibrate, device, kernel, limits
from tests.gpu import peer_memory
from tests.gpu.host_kernels import Array, Module, Racing, run_at

WARP = 32
ORDER = os.environ.get("GPOP_TEST_ORDER")
"""A seed: whatever is emulated runs on several blocks, in an order that this decides (`racing`)."""

RUBBISH = np.uint8(0xA5)  # what an array is full of that nobody has filled


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

    ptr = 0

    def record(self) -> None:
        runtime = sys.modules["cupy"].cuda.runtime
        runtime.eventRecord(self.ptr, Stream.ptr)

    def synchronize(self) -> None:
        pass


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
        eventRecord=lambda event, stream: None,
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
        get_default_memory_pool=lambda: SimpleNamespace(
            free_bytes=lambda: 0, get_limit=lambda: 0, free_all_blocks=lambda: None
        ),
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
    if ORDER and module is Module:
        with racing(int(ORDER)):
            yield
        return
    caches = (device.cupy, device._device, kernel._compiled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", numpy_as_cupy(module))
        patch.setattr(limits, "BLOCK_THREADS", WARP)
        # Measured on a graph that takes minutes here.
        patch.setitem(calibrate._ratios, f"emulator, model {calibrate._model()}", 1.0)
        for cache in caches:
            cache.cache_clear()
        try:
            yield
        finally:
            for cache in caches:
                cache.cache_clear()


@contextmanager
def racing(seed: int, blocks: int = 3, threads: int = 2 * WARP, compares: bool = False) -> Iterator[None]:
    """The same on so many blocks of threads, of which another one goes on after some accesses to memory."""
    with emulated(Racing), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Racing, "seed", seed)
        patch.setattr(Racing, "compares", compares)
        patch.setitem(Device.attributes, "MultiProcessorCount", blocks)
        patch.setattr(limits, "BLOCK_THREADS", threads)
        patch.setattr(limits, "ONE_BLOCK", 0)
        patch.setattr(limits, "CLUSTER", blocks)
        yield
