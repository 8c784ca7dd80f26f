"""Which strategies a run on a GPU may choose, and what their records say to the kernels.

Nothing of a record is written a second time in CUDA: codes of the modes, places in a row of the trace, the
bytes of a strategy and its name come from `gpop.model` and `gpop.plan.trace`. A strategy's file is compiled
into the engines that may choose it. It defines a struct of the record's name (``bins-combined``:
``BinsCombined``) with ``scatter`` and ``gather``, see kernels/engine.cuh.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from gpop.gpu.model_source import model_source
from gpop.model.asked import split
from gpop.model.choosers import AUTO, AUTO_PUSH
from gpop.model.compiled import (
    divides,
    may_pull,
    missed_bytes,
    prefers_asking,
    prefers_bins,
    wanting_bytes,
)
from gpop.model.gpu_bytes import bottom_up_bytes, edge_list_bytes
from gpop.model.gpu_sizes import DeviceSizes
from gpop.model.link_bytes import LINK_BYTES, asked_over_link
from gpop.model.strategies import MODES, PULL, SC, STRATEGIES, Strategy
from gpop.plan import trace

GPU_STRATEGIES = {strategy.name: strategy for strategy in STRATEGIES if strategy.target == "gpu"}

STREAMED = {"push": "push-lines", "bins-combined": "bins-folded"}
"""What a run takes in place of a strategy where its edges are streamed."""


def strategies_of(
    mode: str,
    owned: bool,
    combines: bool,
    pulls: bool = False,
    levels: bool = False,
    streamed: bool = False,
    rows: bool = False,
    binned: bool = True,
) -> tuple[Strategy, ...]:
    """What a run may choose from: at most one strategy for single vertices, one for whole partitions, one for
    iterations in which vertices ask, and one for those in which few are active.

    ``owned``: every vertex has an owner that gathers, whatever the mode; ``pulls``: the model may choose that
    vertices ask; ``levels``: messages can be delivered, and vertices listed, in one phase; ``streamed``:
    edges are read over the link, where they do not fit the device; ``rows``: owners combine all messages;
    ``binned``: whether bins are worth while to a run that may choose.

    Examples
    --------
    >>> [strategy.name for strategy in strategies_of("auto", False, True, True)]
    ['push', 'bins-combined', 'bottom-up']
    >>> [strategy.name for strategy in strategies_of("auto", False, False, True, binned=False)]
    ['push', 'bottom-up']
    >>> [strategy.name for strategy in strategies_of("sc", True, False)]
    ['owner']
    >>> [strategy.name for strategy in strategies_of("vertex-push-warp:8-32", False, True)]
    ['vertex-push-warp']
    """
    if rows:
        return (GPU_STRATEGIES["rows"],)
    name, _ = split(mode)
    if owned and not (name in GPU_STRATEGIES and GPU_STRATEGIES[name].mode == PULL):
        return (GPU_STRATEGIES["owner"],)
    push = ["push"] + ["levels"] * (levels and not streamed)
    auto = [*push] + ["bins"] * binned + ["bottom-up"] * pulls
    names = {"sc": push, "pc": ["bins"], "auto": auto}.get(name, [name])
    if combines:
        names = ["bins-combined" if name == "bins" else name for name in names]
    if streamed:
        names = [STREAMED.get(name, name) for name in names]
    return tuple(GPU_STRATEGIES[name] for name in names)


def kernels_of(strategies: tuple[Strategy, ...]) -> list[str]:
    """Their files of ``kernels/``."""
    return [PurePosixPath(strategy.kernels).stem for strategy in strategies]


def record_values() -> dict[str, int]:
    """Codes of the modes, and where what lies in a row of the trace.

    Examples
    --------
    >>> values = record_values()
    >>> values["MODE_SC"], values["MODE_IDLE"], values["FRONTIER_AT"]
    (0, 3, 0)
    """
    values = {f"MODE_{mode.name.upper()}": mode.code for mode in MODES} | {"MODE_IDLE": len(MODES)}
    values |= {"AUTO": AUTO, "AUTO_PUSH": AUTO_PUSH}
    places = ("FRONTIER_AT", "EDGES_AT", "MODES_AT", "MESSAGES_AT", "BYTES_AT", "SCATTER_AT", "GATHER_AT")
    return values | {name: getattr(trace, name) for name in places}


def struct_name(strategy: Strategy) -> str:
    """The struct that its file defines.

    Examples
    --------
    >>> struct_name(GPU_STRATEGIES["bins-combined"])
    'BinsCombined'
    """
    return "".join(word.capitalize() for word in strategy.name.split("-"))


def _over_link(strategy: Strategy | None, among_others: bool) -> Callable[..., float] | None:
    """Its bytes over the link; ``among_others``: of an iteration that pulls where others do not."""
    if strategy is None:
        return None
    return asked_over_link if among_others else LINK_BYTES[strategy.mode]


def strategy_source(
    sparse: Strategy | None,
    dense: Strategy | None,
    pulling: Strategy | None,
    few: Strategy | None,
    sizes: DeviceSizes,
    live_sizes: DeviceSizes,
    streamed: bool = False,
) -> str:
    """What stands before the kernels: who takes part, and the model of it."""
    chosen = {"SPARSE": sparse, "DENSE": dense, "PULLING": pulling, "FEW": few}
    functions = [strategy.bytes for strategy in chosen.values() if strategy is not None]
    if few is not None:
        functions += [edge_list_bytes, bottom_up_bytes]  # of levels that look at all edges, or vertices
    idle = None if dense is None else dense.idle
    if idle is not None:
        functions.append(idle)
    over_link = {part: _over_link(strategy, part == "PULLING") for part, strategy in chosen.items()}
    if streamed:
        functions += [function for function in over_link.values() if function is not None]
    choosers = prefers_bins, divides, may_pull, wanting_bytes, prefers_asking, missed_bytes
    lines = [model_source((*dict.fromkeys(functions), *choosers))]
    for part, strategy in chosen.items():
        lines.append(f"#define HAS_{part} {int(strategy is not None)}")
        if strategy is None:
            lines.append(f"#define {part}_BYTES(part, sizes) 0.0")
            lines.append(f"#define {part}_LINK(part, sizes, away) 0.0")
        else:
            name = struct_name(strategy)
            lines.append(f"struct {name};\ntypedef {name} {part.capitalize()};")
            lines.append(f"#define {part}_BYTES model::{strategy.bytes.__name__}")
            lines.append(f"#define {part}_LINK model::{over_link[part].__name__}")
    lines.append(f"#define DENSE_IDLES {int(idle is not None)}")
    lines.append(f"#define DENSE_IDLE{'(part, sizes) 0.0' if idle is None else f' model::{idle.__name__}'}")
    lines.append(f"#define SPARSE_MODE {SC if sparse is None else sparse.mode}")
    for name, each in (("SIZES", sizes), ("LIVE_SIZES", live_sizes)):
        lines.append(f"#define {name} (model::DeviceSizes{{{', '.join(map(str, each))}}})")
    return "\n".join(lines)
