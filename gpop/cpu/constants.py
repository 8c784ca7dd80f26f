"""What the model multiplies bytes and accesses with on this machine: measured once, then kept.

They decide what ``mode="auto"`` chooses, never what comes out. They are measured (`gpop.cpu.calibrate`, some
seconds) by ``python -m gpop.warm``, by ``python -m gpop.constants --measure``, and by the first run on a
graph of `LARGE_EDGES`, where that time is not felt; they lie in the user's cache folder, under the processor,
the number of threads and the form of the model. Where nothing is kept, `SHIPPED` are taken.

A process goes on with those that it has begun with, whatever others measure meanwhile: a run is decided like
the one before. ``GPOP_CONSTANTS=shipped`` has `SHIPPED` taken in any case, so that choices are the same on
every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock

from gpop.common.alike import is_shipped
from gpop.common.errors import GpopError
from gpop.common.machine import processor
from gpop.common.parallel import worker_count
from gpop.common.user_folder import recall, remember
from gpop.layout import edge_block_plan, edge_blocks
from gpop.layout.partition import l2_cache_bytes
from gpop.model import bytes as formulas
from gpop.model.constants import SHIPPED, Constants
from gpop.plan.engine import Engine
from gpop.plan.plan import Plan

LARGE_EDGES = 1 << 26
"""From so many edges on, the layouts of a first run take longer than measuring."""

FILE = "constants"


@cache
def machine() -> str:
    """What constants are kept under; they are of one form of the model only."""
    digest = hashlib.sha256()
    for module in (formulas, edge_blocks, edge_block_plan):
        digest.update(Path(module.__file__).read_bytes())
    l2 = l2_cache_bytes() >> 10
    return f"{processor()}, {worker_count()} threads, L2 {l2} KiB, model {digest.hexdigest()[:8]}"


def kept() -> Constants | None:
    """What is kept of this machine, if anything."""
    try:
        return Constants.of(recall(FILE)[machine()])
    except (KeyError, TypeError, ValueError):
        return None


def measured(engine_of: Callable[[Plan], Engine]) -> tuple[Constants, str | None]:
    """Measure with this engine, and keep for later processes; what was found, and why it cannot be kept.

    Raises
    ------
    gpop.cpu.calibrate.Unsteady
        Where the machine does too much else to tell; nothing is kept then.
    """
    from gpop.cpu.calibrate import measure

    found = measure(engine_of, worker_count())
    return found, remember(FILE, recall(FILE) | {machine(): found.told()})


_of_process: dict[bool, tuple[Constants, str | None]] = {}
_deciding = Lock()


def constants(engine_of: Callable[[Plan], Engine] | None = None) -> Constants:
    """Those of this process; where an engine is given (`CpuEngine`), they are measured if none are kept."""
    return _decided(engine_of)[0]


def why_not_kept(engine_of: Callable[[Plan], Engine]) -> str | None:
    """Why later processes have nothing of what this one was to measure; None where they have."""
    return _decided(engine_of)[1]


def _decided(engine_of: Callable[[Plan], Engine] | None) -> tuple[Constants, str | None]:
    measures = engine_of is not None
    if measures not in _of_process:
        with _deciding:
            if measures not in _of_process:
                _of_process[measures] = _decide(engine_of)
    return _of_process[measures]


def _decide(engine_of: Callable[[Plan], Engine] | None) -> tuple[Constants, str | None]:
    found = SHIPPED if is_shipped() else kept()
    if found is None and engine_of is not None:
        try:
            return measured(engine_of)
        except GpopError as error:  # a later process may find it quiet, or with more memory
            return SHIPPED, str(error)
    return found or SHIPPED, None
