"""BW_PC / BW_SC of eq. (1) on the device at hand: measured once, then kept in the user's cache folder.

One iteration with every vertex active, in each mode, on a random graph that does not fit the caches of
a GPU; bytes by the model (`gpop.model.gpu_bytes`) over the time that the device took. A ratio is that of one
model: where bytes are counted otherwise it is measured again.
"""

from __future__ import annotations

import hashlib
import inspect
import statistics
from collections.abc import Callable

import numpy as np

from gpop.common.user_folder import recall, remember
from gpop.generate import generate
from gpop.gpu.device import current_device
from gpop.gpu.traits import device_sizes
from gpop.graph.graph import Graph
from gpop.model import gpu_bytes
from gpop.plan.engine import Engine
from gpop.plan.plan import Plan, decide
from gpop.plan.residency import Residency
from gpop.plan.trace import BYTES_AT, GATHER_AT, SCATTER_AT
from gpop.program.fields import HARMLESS, VertexField
from gpop.program.program import Program

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


def _model() -> str:
    """Stands for the formulas, and for the sizes that they are given."""
    text = inspect.getsource(gpu_bytes) + inspect.getsource(device_sizes)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


_ratios: dict[str, float] = {}
"""Those of this process, in which a run is decided like the one before, whatever others measure meanwhile."""


def device_ratio(engine_of: Callable[[Plan], Engine]) -> float:
    """The ratio of the current device and model, calibrated on first use with its engine (`GpuEngine`)."""
    return _of_device("model", measure_ratio, engine_of)


def link_cost(engine_of: Callable[[Plan], Engine]) -> float:
    """What a byte over the link costs, in bytes of source-centric iterations; measured and kept likewise."""
    return _of_device("link, model", measure_link_cost, engine_of)


def _of_device(what: str, measure: Callable[..., float], engine_of: Callable[[Plan], Engine]) -> float:
    """A number of the current device: this process's, else the one that is kept, else measured and kept."""
    name = f"{current_device().name}, {what} {_model()}"
    if name not in _ratios:
        kept = recall("devices")
        if not isinstance(kept.get(name), float):
            kept[name] = measure(engine_of)
            remember("devices", kept)
        _ratios[name] = kept[name]
    return _ratios[name]


def measure_link_cost(engine_of: Callable[[Plan], Engine]) -> float:
    """Median bandwidth of source-centric iterations over that of the link, where all edges come over it."""
    graph = generate("rmat", scale=SCALE, degree=DEGREE, seed=SEED)
    found: list[list[float]] = []
    for residency in ("device", "stream"):
        found.append([])
        for _ in range(ROUNDS + 1):
            found[-1].append(_bandwidth(engine_of, graph, "sc", residency))
    graph.drop("device")
    device, link = (statistics.median(each[1:]) for each in found)
    return device / link


def _bandwidth(engine_of: Callable[[Plan], Engine], graph: Graph, mode: str, residency: str) -> float:
    """Bytes per second of one iteration in which every vertex is active; over the link where that is."""
    program = Smallest(graph)
    program.label = np.arange(graph.n, dtype=np.uint32)
    placed = Residency(residency, 64 * graph.n if residency == "stream" else None)
    engine = engine_of(decide(program, target="gpu", mode=mode, ratio=1.0, limit=1, residency=placed))
    engine.prepare()
    engine.load(None, 1)
    (row,) = engine.iterate()
    moved = row[BYTES_AT] if residency == "device" else engine.finish().link["bytes"][0]
    return moved / (row[SCATTER_AT] + row[GATHER_AT])


def measure_ratio(engine_of: Callable[[Plan], Engine]) -> float:
    """Median bandwidth of partition-centric over that of source-centric iterations."""
    graph = generate("rmat", scale=SCALE, degree=DEGREE, seed=SEED)
    bandwidth: dict[str, list[float]] = {"sc": [], "pc": []}
    for _ in range(ROUNDS + 1):
        for mode, found in bandwidth.items():
            found.append(_bandwidth(engine_of, graph, mode, "device"))
    graph.drop("device")
    return statistics.median(bandwidth["pc"][1:]) / statistics.median(bandwidth["sc"][1:])
