"""BW_PC / BW_SC of eq. (1) on the device at hand: measured once, then kept in the user's cache folder.

One iteration with every vertex active, in each mode, on a random graph that does not fit the caches of
a GPU; bytes by the model (`gpop.model.bytes`) over the time that the device took.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpop.common.replacing import replacing
from gpop.generate import generate
from gpop.gpu.device import current_device
from gpop.gpu.device_graph import free_device
from gpop.program.program import HARMLESS, Program, VertexField

SCALE, DEGREE, SEED, ROUNDS = 21, 16, 1, 5


class Smallest(Program):
    """One word a message and one comparison a vertex: the time is that of the memory."""

    label = VertexField(np.uint32)
    inactive_message = HARMLESS
    combine = "min"

    def scatterFunc(self, node):
        return self.label[node]

    def gatherFunc(self, value, node):
        if value < self.label[node]:
            self.label[node] = value
            return True
        return False


def _file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gpop" / "devices.json"


def _stored() -> dict[str, float]:
    try:
        return {str(name): float(ratio) for name, ratio in json.loads(_file().read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def device_ratio(run: Callable[..., Any]) -> float:
    """The ratio of the current device; calibrated on first use with ``run`` (`run_on_gpu`)."""
    name = current_device().name
    ratios = _stored()
    if name not in ratios:
        ratios[name] = measure_ratio(run)
        try:
            _file().parent.mkdir(parents=True, exist_ok=True)
            with replacing(_file()) as temporary:
                temporary.write_text(json.dumps(ratios, indent=1) + "\n")
        except OSError:
            pass  # a cache folder that cannot be written: measured again next time
    return ratios[name]


def measure_ratio(run: Callable[..., Any]) -> float:
    """Median bandwidth of partition-centric over that of source-centric iterations."""
    graph = generate("rmat", scale=SCALE, degree=DEGREE, seed=SEED)
    bandwidth: dict[str, list[float]] = {"sc": [], "pc": []}
    for _ in range(ROUNDS + 1):
        for mode, found in bandwidth.items():
            program = Smallest(graph)
            program.label = np.arange(graph.n, dtype=np.uint32)
            done = run(
                program,
                None,
                limit=1,
                mode=mode,
                ratio=1.0,
                partition_size=None,
                progress=False,
                callback=None,
            )
            found.append(done.trace[0]["bytes"] / done.trace.seconds)
    free_device(graph)
    return statistics.median(bandwidth["pc"][1:]) / statistics.median(bandwidth["sc"][1:])
