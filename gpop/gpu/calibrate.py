"""BW_PC / BW_SC of eq. (1) on the device at hand: measured once, then kept in the user's cache folder.

One iteration with every vertex active, in each mode, on a random graph that does not fit the caches of
a GPU; bytes by the model (`gpop.model.gpu_bytes`) over the time that the device took. A ratio is that of one
model: where bytes are counted otherwise it is measured again.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import statistics
from pathlib import Path

import numpy as np

from gpop.common.replacing import replacing
from gpop.gpu.device import current_device
from gpop.gpu.kernel import device_sizes
from gpop.model import gpu_bytes

SCALE, DEGREE, SEED, ROUNDS = 21, 16, 1, 5


def _file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gpop" / "devices.json"


def _stored() -> dict[str, float]:
    try:
        return {str(name): float(ratio) for name, ratio in json.loads(_file().read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _model() -> str:
    """Stands for the formulas, and for the sizes that they are given."""
    text = inspect.getsource(gpu_bytes) + inspect.getsource(device_sizes)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def device_ratio() -> float:
    """The ratio of the current device, calibrated on first use."""
    name = f"{current_device().name}, bytes {_model()}"
    ratios = _stored()
    if name not in ratios:
        ratios[name] = measure_ratio()
        try:
            _file().parent.mkdir(parents=True, exist_ok=True)
            with replacing(_file()) as temporary:
                temporary.write_text(json.dumps(ratios, indent=1) + "\n")
        except OSError:
            pass  # a cache folder that cannot be written: measured again next time
    return ratios[name]


def measure_ratio() -> float:
    """Median bandwidth of partition-centric over that of source-centric iterations."""
    from gpop.apps.cc import ConnectedComponents
    from gpop.generate import generate
    from gpop.gpu.driver import run_on_gpu
    from gpop.gpu.layout import free_device

    graph = generate("rmat", scale=SCALE, degree=DEGREE, seed=SEED)
    bandwidth: dict[str, list[float]] = {"sc": [], "pc": []}
    for _ in range(ROUNDS + 1):
        for mode, found in bandwidth.items():
            program = ConnectedComponents(graph)
            program.label = np.arange(graph.n, dtype=np.uint32)
            run = run_on_gpu(
                program,
                None,
                limit=1,
                mode=mode,
                ratio=1.0,
                partition_size=None,
                progress=False,
                callback=None,
            )
            found.append(run.trace[0]["bytes"] / run.trace.seconds)
    free_device(graph)
    return statistics.median(bandwidth["pc"][1:]) / statistics.median(bandwidth["sc"][1:])
