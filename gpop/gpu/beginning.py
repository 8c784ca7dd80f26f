"""How fields that nobody has looked at begin on a device: one value everywhere, but for a few vertices.

One launch makes all fields of a run, by the steps that fill them on the host (`gpop.program.recipes`, in
kernels/begin.cuh). The driver's own calls are two a field, one for all vertices and one for the source.
"""

from __future__ import annotations

from array import array

import numpy as np

from gpop.gpu import limits
from gpop.gpu.device import current_device, current_stream
from gpop.gpu.kernel import compile_kernel
from gpop.gpu.kernel_files import kernel_text
from gpop.gpu.launch import Launch
from gpop.program.recipes import EVERYWHERE, WIDTH

MOST_STEPS = 64
"""Of a launch: 2,560 bytes of the 4,096 that its arguments may have."""

BLOCKS = 2
"""Of 1,024 threads on a multiprocessor."""


class Beginning:
    """The launch that makes fields of arrays of the current device, for one run at a time."""

    def __init__(self) -> None:
        steps, count, length = (np.zeros(size, np.int64) for size in (MOST_STEPS * WIDTH, 1, 1))
        self._steps, self._count, self._length = (
            memoryview(each).cast("B").cast("q") for each in (steps, count, length)
        )
        module = compile_kernel(
            f"#define MOST_STEPS {MOST_STEPS}\n#define EVERYWHERE {EVERYWHERE}\n{kernel_text(('begin',))}",
            False,
        )
        blocks = BLOCKS * current_device().multiprocessors
        said = steps.view(np.dtype((np.void, steps.nbytes))), count, length
        self._launch = Launch(module.get_function("gpop_begin"), blocks, limits.BLOCK_THREADS, said)

    def __call__(self, steps: list[int], length: int) -> None:
        """Do these steps behind what the stream has to do, in fields of this length that have room behind."""
        stream, self._length[0] = current_stream(), length
        for at in range(0, len(steps), MOST_STEPS * WIDTH):
            some = array("q", steps[at : at + MOST_STEPS * WIDTH])
            self._steps[: len(some)], self._count[0] = some, len(some) // WIDTH
            self._launch(stream)
