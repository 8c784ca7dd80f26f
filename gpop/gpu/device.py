"""The GPU seen from Python: CuPy when it is there, one clear line when it is not, and what fits.

CuPy is imported here and nowhere else, and only when the GPU is asked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gpop.common.errors import NotEnoughMemory, UsageError

_GIB = 1 << 30


class Device(NamedTuple):
    """What the engine needs to know of the device it runs on."""

    name: str
    multiprocessors: int
    shared_bytes: int
    """Most shared memory of one block."""
    compute_capability: str
    memory: int
    """Bytes, taken or not."""


@lru_cache(maxsize=1)
def cupy() -> Any:
    """The CuPy module, on a machine with a device.

    Raises
    ------
    UsageError
        If CuPy is not installed or finds no CUDA device.
    """
    try:
        import cupy as module
    except ImportError:
        raise UsageError(
            "target 'gpu' needs CuPy: pip install cupy-cuda13x (or cupy-cuda12x for CUDA 12)"
        ) from None
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise UsageError(f"target 'gpu': no CUDA device ({error})") from None
    if count == 0:
        raise UsageError("target 'gpu': no CUDA device")
    return module


def is_available() -> bool:
    """Whether programs can run on a GPU here."""
    try:
        cupy()
    except UsageError:
        return False
    return True


@lru_cache(maxsize=8)
def _device(index: int) -> Device:
    device = cupy().cuda.Device(index)
    properties = cupy().cuda.runtime.getDeviceProperties(index)
    attributes = device.attributes
    return Device(
        properties["name"].decode(),
        attributes["MultiProcessorCount"],
        attributes["MaxSharedMemoryPerBlockOptin"],
        device.compute_capability,
        cupy().cuda.runtime.memGetInfo()[1],
    )


def current_device() -> Device:
    """The device that CuPy is set to."""
    return _device(cupy().cuda.Device().id)


def current_stream() -> int:
    """The stream that CuPy works on. Copies of arrays take longer than those of the driver, ``set`` waits."""
    return cupy().cuda.get_current_stream().ptr


def device_identity() -> str:
    """Tells the current device from others of the machine, whatever number they have here."""
    return cupy().cuda.runtime.deviceGetPCIBusId(cupy().cuda.Device().id)


def nccl() -> Any:
    """CuPy's module of that name; None where there is no NCCL."""
    try:
        from cupy.cuda import nccl as module
    except ImportError:
        return None
    return module if module.available else None


def free_bytes() -> int:
    """Bytes that can still be allocated on the device, memory that CuPy keeps for reuse included, within the
    limit that somebody has set to what CuPy takes (``CUPY_GPU_MEMORY_LIMIT``, ``set_limit``)."""
    pool = cupy().get_default_memory_pool()
    free, limit = cupy().cuda.runtime.memGetInfo()[0] + pool.free_bytes(), pool.get_limit()
    return min(free, max(limit - pool.used_bytes(), 0)) if limit else free


def of_cupy(array: Any, field: str, device: int) -> Any:
    """An array of the user's as CuPy's, whatever library's it is, without a copy: on the device of the run.

    Raises
    ------
    UsageError
        For one of another device, which kernels may not be able to read: that would end all that CUDA does
        in the process.
    """
    found = array if hasattr(getattr(array, "data", None), "ptr") else cupy().asarray(array)
    if found.data.device_id != device:
        raise UsageError(
            f"field {field}: an array of device {found.data.device_id}: "
            f"expected one of device {device}, which the run is on"
        )
    return found


def pinned(length: int, dtype: np.dtype) -> np.ndarray:
    """An array of the host's memory that the device can reach."""
    return np.frombuffer(cupy().cuda.alloc_pinned_memory(length * dtype.itemsize), dtype, length)


def pinned_copy(array: np.ndarray, length: int, dtype: np.dtype | None = None) -> np.ndarray:
    """A copy, of this type, that the device can read in place, filled up with zeros to this length."""
    dtype = array.dtype if dtype is None else dtype
    copy = pinned(length, dtype)
    copy[: len(array)] = array
    copy[len(array) :] = 0
    return copy


def require_device_memory(needed: int, what: str) -> None:
    """Refuse before anything is allocated.

    Raises
    ------
    NotEnoughMemory
        If the device has less free than ``needed`` bytes.
    """
    free = free_bytes()
    if needed > free:
        sizes = (needed / _GIB, free / _GIB)
        digits = next(digits for digits in range(1, 11) if len({f"{size:.{digits}f}" for size in sizes}) == 2)
        raise NotEnoughMemory(
            f"{what} needs {sizes[0]:.{digits}f} GiB on the device, {sizes[1]:.{digits}f} GiB are free"
        )
