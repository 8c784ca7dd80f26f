"""Blocks of device memory that all ranks of a machine reach: one each, made known by a handle of CUDA.

A process makes its block known to the others (``cudaIpcGetMemHandle``) once for all runs that it is large
enough for.
"""

from __future__ import annotations

from gpop.gpu.device import cupy, device_identity
from gpop.ranks.world import World

_blocks: dict[int, tuple[int, list[int]]] = {}


def reached(world: World, nbytes: int) -> list[int]:
    """Addresses of the blocks of all ranks, where each has a device of its own in one machine; else none.

    Each block has at least the bytes that its rank asks for; all ranks ask together.
    """
    able = world.everyones((world.machine, device_identity()))
    apart = len(set(able)) == world.size and len({machine for machine, _ in able}) == 1
    return _reach(world, nbytes) if apart else []


def _reach(world: World, nbytes: int) -> list[int]:
    """The same; none if CUDA refuses."""
    runtime, device = cupy().cuda.runtime, cupy().cuda.Device().id
    size, blocks = _blocks.pop(device, (0, []))
    if not any(world.everyones(nbytes > size)):
        _blocks[device] = size, blocks
        return blocks
    _leave(world, blocks, blocks[world.rank] if blocks else 0)
    cupy().get_default_memory_pool().free_all_blocks()  # what CuPy keeps for reuse is not for this
    own = runtime.malloc(nbytes)
    blocks = []
    for rank, handle in enumerate(world.everyones(runtime.ipcGetMemHandle(own))):
        try:
            blocks.append(own if rank == world.rank else runtime.ipcOpenMemHandle(handle))
        except runtime.CUDARuntimeError:
            break
    if not all(world.everyones(len(blocks) == world.size)):
        _leave(world, blocks, own)
        return []
    _blocks[device] = nbytes, blocks
    return blocks


def _leave(world: World, blocks: list[int], own: int) -> None:
    """Give back what was reached, by rank; the own block when nobody has it open any more."""
    for rank, each in enumerate(blocks):
        if rank != world.rank:
            cupy().cuda.runtime.ipcCloseMemHandle(each)
    world.barrier()
    if own:
        cupy().cuda.runtime.free(own)
