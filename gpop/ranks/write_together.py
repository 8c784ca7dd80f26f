"""One file of which every rank writes its piece where it belongs; rank 0 gives it its name when all have.

A device or a FIFO has no places: all pieces go to rank 0, which writes them.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

import numpy as np

from gpop.common.errors import GraphFileError
from gpop.common.replacing import replacing
from gpop.ranks.world import World


def write_together(path: str | os.PathLike, piece: bytes | memoryview, world: World) -> None:
    """Write the pieces of all ranks, in their order; all call it together, and the file appears whole or not.

    Raises
    ------
    GraphFileError
        On all ranks, if one of them cannot write: disks must be shared.
    """
    begin = sum(world.everyones(len(piece))[: world.rank])
    with nullcontext() if world.rank else replacing(path) as temporary:
        name = world.first_ones(temporary)
        in_pieces = world.first_ones(not world.rank and os.path.isfile(temporary))
        if not in_pieces:
            piece = world.joined(np.frombuffer(piece, np.uint8))
        fault = None
        try:
            if in_pieces or world.rank == 0:
                with open(name, "r+b" if in_pieces else "wb") as file:
                    if in_pieces:
                        file.seek(begin)
                    file.write(piece)
        except OSError as error:
            fault = f"rank {world.rank}: {error.strerror or error}"
        for each in world.everyones(fault):
            if each is not None:
                raise GraphFileError(f"{path}: cannot be written: {each}")
    world.barrier()
