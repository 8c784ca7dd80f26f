"""Seeded graph generators: the same graph for any number of threads.

A generator is one module here with ``edges(seed, **sizes) -> (n, Edges)`` and the flag ``UNDIRECTED``, and
one line in GENERATORS; a mesh or torus is one entry in `gpop.generate.lattices`. Edges are computed from
(seed, edge number), chunk by chunk and twice over, while the CSR is built; they never exist as a list (of
geometric and evolve they do). A generator may say ``TAKES_LONG``: then ``edges`` has a keyword ``progress``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpop.common.arguments import real, whole
from gpop.common.errors import UsageError
from gpop.common.flags import as_flag
from gpop.generate.lattices import LATTICES
from gpop.graph.arguments import MOST_VERTICES
from gpop.graph.graph import Graph

if TYPE_CHECKING:
    from gpop.graph.build import Edges

GENERATORS = {  # kind: its sizes and their defaults
    "rmat": {"scale": 16, "degree": 16, "parameters": (0.57, 0.19, 0.19)},
    "uniform": {"scale": 16, "degree": 16},
    **{kind: lattice.sizes for kind, lattice in LATTICES.items()},
    "chain": {"vertices": 1024},
    "star": {"vertices": 1024},
    "road": {"width": 141, "height": 142},
    "small_world": {"vertices": 1 << 16, "degree": 16, "probability": 0.1},
    "barabasi_albert": {"vertices": 1 << 16, "degree": 8},
    "geometric": {"vertices": 1 << 16, "degree": 16},
    "evolve": {
        "vertices": 100,
        "target": "uniform",
        "crossover": "union",
        "mutation": "balanced",
        "generations": 1000,
    },
}

SAID = {  # what a size that is a word may be
    "target": "uniform:LOW:HIGH, exponential:RATE or normal:MEAN:DEVIATION, or a name alone",
    "crossover": "vertex, edge, point or union",
    "mutation": "flip or balanced",
}


def generate(
    kind: str,
    *,
    seed: int = 1,
    symmetrize: bool = False,
    weights: tuple[int, int] | None = None,
    permute: bool = False,
    progress: bool = False,
    **sizes: int | float | str | tuple[float, ...],
) -> Graph:
    """Generate a graph.

    Parameters
    ----------
    kind
        One of ``GENERATORS``; ``sizes`` are its sizes (``scale=20, degree=16``), explained in its module.
    seed
        Chooses the graph; the same seed gives the same graph everywhere.
    symmetrize
        Add the opposite of every edge and keep each edge once. All but rmat, uniform and evolve come
        in both directions anyway.
    weights
        ``(low, high)``: random integer weights, both ends included; opposite edges get the same one.
    permute
        Shuffle the vertex ids.
    progress
        Show a progress bar.

    Examples
    --------
    >>> from gpop.generate import generate
    >>> generate("grid", width=4, height=3)
    Graph(grid-4-3: 12 vertices, 34 edges)
    """
    from gpop.graph.build import build_csr

    chosen = {"seed": seed, "symmetrize": symmetrize, "weights": weights, "permute": permute}
    made = recipe(kind, **chosen, progress=progress, **sizes)
    arrays = build_csr(made.n, list(made.sources), made.weight_dtype, made.duplicates, progress=progress)
    return Graph(*arrays, name=made.name)


class Recipe(NamedTuple):
    """What a graph is made of: its edges, not made yet, in the order in which they are."""

    n: int
    sources: tuple[Edges, ...]
    weight_dtype: type | None
    duplicates: str
    name: str


def recipe(
    kind: str, *, seed: int = 1, symmetrize: bool = False, weights: tuple[int, int] | None = None,
    permute: bool = False, progress: bool = False, **sizes: int | float | str | tuple[float, ...],
) -> Recipe:  # fmt: skip
    """The edges of a graph; arguments as for `generate`."""
    if not isinstance(kind, str) or kind not in GENERATORS:
        raise UsageError(f"graph kind {kind!r} is unknown, expected one of {', '.join(GENERATORS)}")
    flags = {"symmetrize": symmetrize, "permute": permute, "progress": progress}
    symmetrize, permute, progress = (as_flag(*each) for each in flags.items())
    unknown = sizes.keys() - GENERATORS[kind].keys()
    if unknown:
        raise UsageError(f"{kind} has no {min(unknown)}, expected {' and '.join(GENERATORS[kind])}")
    seed = whole("seed", seed)
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed {seed} is not possible, expected 0..{2**64 - 1}")
    from gpop.graph.modify import shuffled, with_weights

    sizes = GENERATORS[kind] | {
        name: _like(name, GENERATORS[kind][name], size) for name, size in sizes.items()
    }
    module = _module(kind)
    shown = {"progress": progress} if getattr(module, "TAKES_LONG", False) else {}
    n, edges = module.edges(kind, **sizes) if kind in LATTICES else module.edges(seed, **sizes, **shown)
    check_vertices(n)
    dtype = getattr(module, "WEIGHT_DTYPE", None)
    if weights is not None:
        edges, dtype = with_weights(edges, seed, *_ends(weights))
    if permute:
        edges = shuffled(edges, seed, n)
    sources = (edges, edges.reversed()) if symmetrize or module.UNDIRECTED else (edges,)
    return Recipe(n, sources, dtype, "min" if symmetrize else "keep", _name(kind, sizes))


def _like(name: str, default: Any, size: Any) -> Any:
    """A size of the kind that its default is of, or a `UsageError`."""
    if isinstance(default, int):
        return whole(name, size)
    if isinstance(default, float):
        return real(name, size)
    if isinstance(default, str):
        if not isinstance(size, str):
            raise UsageError(f"{name} {size!r}: expected {SAID[name]}")
        return size
    if not isinstance(size, Iterable):
        raise UsageError(f"{name} {size!r}: expected {len(default)} numbers")
    return tuple(real(name, each) for each in size)


def _ends(weights: Any) -> list[int]:
    """The lowest and the highest weight."""
    try:
        low, high = weights
    except (TypeError, ValueError):
        raise UsageError(f"weights {weights!r}: expected (LOW, HIGH)") from None
    return [whole("weights", end) for end in (low, high)]


def remark(graph: Graph, kind: str, **sizes: int | float | str | tuple[float, ...]) -> str | None:
    """What a generator whose module has a ``remark`` says of the graph that it made of these sizes."""
    words = getattr(_module(kind), "remark", None)
    return words and words(graph, **GENERATORS[kind] | sizes)


def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"gpop.generate.{'lattice' if kind in LATTICES else kind}")


def _name(kind: str, sizes: dict) -> str:
    """The kind and its sizes; parameters that are as always go without saying."""
    said = [
        ",".join(map(str, size)) if isinstance(size, tuple) else str(size)
        for name, size in sizes.items()
        if not isinstance(size, tuple) or size != GENERATORS[kind][name]
    ]
    return "-".join([kind, *said])


def check_sizes(least: int, **sizes: int) -> None:
    """Raise UsageError when a size is below ``least``."""
    for name, size in sizes.items():
        if size < least:
            raise UsageError(f"{name} {size} is not possible, expected at least {least}")


def check_vertices(n: int) -> None:
    """Raise UsageError when ids of 32 bits cannot number ``n`` vertices."""
    if n > MOST_VERTICES:
        raise UsageError(f"a graph of {n} vertices is not possible, expected at most {MOST_VERTICES}")


def check_scale(scale: int, degree: int) -> None:
    """Raise UsageError when 2**scale vertices with ``degree`` edges each are not possible."""
    if not 0 <= scale <= 31:
        raise UsageError(f"scale {scale} is not possible, expected 0..31")
    check_sizes(0, degree=degree)


def empty_pair(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for the sources and destinations of ``count`` edges."""
    return np.empty(count, np.uint32), np.empty(count, np.uint32)
