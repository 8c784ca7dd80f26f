"""Who is measured: gpop in its modes, and peers; a family of implementations is one file and one line here.

A family is a module with ``LIBRARY`` (what is imported), ``THREADED`` (whether it uses more than one),
``IMPLEMENTATIONS`` {algorithm: {name: flags}} and ``prepare(algorithm, graph, variant, flags, threads)``,
which does everything that is not timed (conversion, settings) and returns a `Prepared`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import gpop

FAMILIES = {
    "gpop": "perf.own",
    "paper": "perf.paper",
    "scipy": "perf.peers.scipy_peer",
    "networkit": "perf.peers.networkit_peer",
    "igraph": "perf.peers.igraph_peer",
    "graphblas": "perf.peers.graphblas_peer",
}


class Prepared(NamedTuple):
    """What is timed, and what follows from its result.

    ``call()`` is the timed part, ``answer(result)`` the array that is compared, ``run(result)`` gpop's own
    record of its iterations. ``scaled``: the answer is right up to a factor.
    """

    call: Callable[[], Any]
    answer: Callable[[Any], np.ndarray]
    run: Callable[[Any], gpop.Run] | None = None
    scaled: bool = False


def family_module(family: str) -> ModuleType:
    """The module of a family."""
    return importlib.import_module(FAMILIES[family])


def installed(family: str) -> bool:
    """Whether the family's library can be imported."""
    return importlib.util.find_spec(family_module(family).LIBRARY) is not None


def registered(algorithm: str) -> dict[str, dict[str, Any]]:
    """Name -> flags (the family among them) of all implementations of an algorithm."""
    found = {}
    for family in FAMILIES:
        module = family_module(family)
        for name, flags in module.IMPLEMENTATIONS.get(algorithm, {}).items():
            single = {} if module.THREADED else {"threads": 1}
            found[name] = {"family": family, **single, **flags}
    return found


@cache
def gpop_version() -> str:
    """Version of gpop and of its sources, so that results of different code are told apart.

    >>> gpop_version().startswith(gpop.__version__ + "+")
    True
    """
    digest = hashlib.sha256()
    root = Path(gpop.__file__).parent
    for path in sorted(path for kind in ("*.py", "*.cuh") for path in root.rglob(kind)):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return f"{gpop.__version__}+{digest.hexdigest()[:8]}"


def version(family: str) -> str:
    """The library and its version, with those it compiles with for gpop.

    >>> version("gpop").startswith("gpop ")
    True
    """
    if family_module(family).LIBRARY == "gpop":
        parts = [f"{name} {importlib.metadata.version(name)}" for name in ("numba", "numpy")]
        return ", ".join([f"gpop {gpop_version()}", *parts])
    module = family_module(family)
    return f"{module.DISTRIBUTION} {importlib.metadata.version(module.DISTRIBUTION)}"
