"""gpop itself: as it comes (``gpop``), and in its modes: source-centric, partition-centric, the choice of
both; plain or interleaved. To ask for a mode makes components go by messages, which gpop by itself does not.

Timed is the whole call, as for peers; its loop alone is a timer of its own.
"""

from __future__ import annotations

from typing import Any

import gpop
from perf.algorithms import ALGORITHMS
from perf.implementations import Prepared

LIBRARY = "gpop"
THREADED = True


def _modes(interleaved: bool) -> dict[str, dict[str, Any]]:
    """Names and flags: ``gpop``, ``gpop-sc``, and ``gpop-sc-interleaved`` where that is possible."""
    plain = {f"gpop-{mode}": {"mode": mode} for mode in ("sc", "pc", "auto")}
    if not interleaved:
        return {"gpop": {}} | plain
    both = {name: flags | {"interleave": False} for name, flags in plain.items()}
    return (
        {"gpop": {}}
        | both
        | {f"{name}-interleaved": flags | {"interleave": True} for name, flags in plain.items()}
    )


IMPLEMENTATIONS = {name: _modes(algorithm.interleaved) for name, algorithm in ALGORITHMS.items()}


def prepare(algorithm: str, graph: gpop.Graph, variant: dict, flags: dict, threads: int) -> Prepared:
    """``flags`` are options of `gpop.run`: mode, model, interleave, partition_size, ratio."""
    known = ALGORITHMS[algorithm]
    return Prepared(
        call=lambda: known.call(graph, variant, {**flags, "threads": threads}),
        answer=lambda result: known.answer(graph, result),
        run=lambda result: result.run,
    )
