"""How a run on a GPU is made ready: what fits the device goes there, and kernels are compiled.

Edges that do not fit stay with the host (`gpop.gpu.streaming`), where a run may choose; before that it does
without one of its ways. What is ready is noted with the graph (`gpop.gpu.prepared`).
"""

from __future__ import annotations

import time
from typing import Any

from gpop.common.errors import NotEnoughMemory
from gpop.common.memory import readable
from gpop.common.parallel import worker_count
from gpop.gpu.choices import mode_of, parts_of, traits_of
from gpop.gpu.device import free_bytes, require_device_memory
from gpop.gpu.device_graph import DeviceGraph, device_graph
from gpop.gpu.emit import emit
from gpop.gpu.emitted import Emitted
from gpop.gpu.kernel import FUSED
from gpop.gpu.left import make_room
from gpop.gpu.prepared import Prepared
from gpop.gpu.streaming import Link, stream
from gpop.gpu.traits import OWNER, Traits
from gpop.gpu.workspace import Shapes, queue_shapes, workspace_shapes
from gpop.model.strategies import TREE
from gpop.plan.plan import Plan
from gpop.program.lowering import Lowered
from gpop.program.program import Program

_emitted_programs: dict[tuple[str, Any], Emitted] = {}


def emitted_of(plan: Plan) -> Emitted:
    """The CUDA functions of a program, kept by its content."""
    key = (plan.lowered.key, plan.types.weight)
    if key not in _emitted_programs:
        _emitted_programs[key] = emit(type(plan.program), plan.lowered, plan.types.weight)
    return _emitted_programs[key]


class Preparing:
    """Base of a device's engines: what is done once for all runs that are decided alike."""

    launched = FUSED
    plan: Plan
    program: Program
    lowered: Lowered
    push: int | None
    mode: str
    link: Link | None = None

    def _with_constants(self, ready: Prepared) -> Prepared:
        """With what is measured, where it was not yet."""
        raise NotImplementedError

    def _made_ready(self) -> Prepared:
        """Prepared anew, the arrays of the layout on the device."""
        plan, graph = self.plan, self.program.graph
        self.mode = TREE if plan.tree is not None and not self.program.all_active else mode_of(plan)
        emitted = self._emitted()
        traits = self._traits(emitted)
        turned = traits.combine is not None and traits.push != OWNER
        layout, seconds = device_graph(graph, traits.bits, turned, worker_count())
        if plan.types.weight is not None:
            traits = traits._replace(bin_weight_dtype=layout.bins.id_weights.dtype)
        if plan.residency.name == "stream":
            return self._stream(emitted, seconds)
        parts, shapes, own, needed = self._needs(layout, emitted, traits)
        make_room(graph, needed)
        if traits.pulling and needed > free_bytes():  # a run that may choose does without in-edges
            others = tuple(strategy for strategy in traits.strategies if strategy is not traits.pulling)
            traits = traits._replace(strategies=others)
            parts, shapes, own, needed = self._needs(layout, emitted, traits)
        if self._is_too_much(needed, own + layout.bytes_of(parts)):
            return self._stream(emitted, seconds)
        require_device_memory(needed, f"{self.lowered.name} on {graph!r}")
        before = time.perf_counter()
        layout.load(parts)
        seconds += time.perf_counter() - before
        shapes |= queue_shapes(layout, emitted, traits, (free_bytes() - own) // 2)
        return self._with_constants(self._compiled(layout, emitted, traits, shapes, seconds))

    def _emitted(self) -> Emitted:
        return emitted_of(self.plan)

    def _traits(self, emitted: Emitted) -> Traits:
        return traits_of(self.plan, emitted, self.push)

    def _is_too_much(self, needed: int, taken: int) -> bool:
        """Whether a run that may stream has to; one that may not is refused where its budget is too small."""
        name, budget = self.plan.residency
        if budget is not None and taken > budget and name == "device":
            raise NotEnoughMemory(
                f"{self.lowered.name} on {self.program.graph!r} needs {readable(taken)} of device memory, "
                f"{readable(budget)} are given"
            )
        return name == "auto" and (needed > free_bytes() or (budget is not None and taken > budget))

    def _stream(self, emitted: Emitted, seconds: float) -> Prepared:
        """The same with a part of the edges on the device."""
        before = time.perf_counter()
        streamed, traits, shapes = stream(self.plan, emitted, self.push, self._beside())
        if self.program.all_active:  # a tree may have said what wants all edges on the device
            self.mode = mode_of(self.plan, budgeted=True)
        self.link = Link(streamed)
        seconds += time.perf_counter() - before
        return self._with_constants(self._compiled(streamed, emitted, traits, shapes, seconds))

    def _beside(self) -> int:
        """Bytes of the device that a run takes beside what it is given by its layout."""
        return 0

    def _compiled(self, *made: Any) -> Prepared:
        return Prepared(*made, launched=self.launched)

    def _needs(
        self, layout: DeviceGraph, emitted: Emitted, traits: Traits
    ) -> tuple[tuple[str, ...], Shapes, int, int]:
        """Arrays of the graph, those of the workspace, bytes of these and of fields, all that is missing."""
        parts = parts_of(self.plan, emitted, traits)
        shapes = workspace_shapes(layout, emitted, traits)
        own = sum(length * dtype.itemsize for length, dtype in shapes.values())
        own += sum(self.program._fields.nbytes(name) for name in self.lowered.fields)
        return parts, shapes, own, layout.missing_bytes(parts) + own
