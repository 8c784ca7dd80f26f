"""The graphs of ``python -m perf gpu-strategies --paper``, in families, which are the datasets of the store.

Generated ones are those of the first paper (its Table 1: tori, star, chain), small ones of the same kinds,
R-MAT and uniform graphs of two sizes, and some others. ``LONG`` is for PageRank only, as there: a BFS from
the end of a chain has a million levels. Real ones are the files of a folder; the first line of those that
list edges once for both directions says "undirected".

Paper: Verstraaten, Varbanescu, de Laat, "Quantifying the performance impact of graph structure on neighbour
iteration strategies for PageRank" (Euro-Par 2015).
"""

from __future__ import annotations

from pathlib import Path

from gpop.common.errors import UsageError
from gpop.io.compressed import opener
from perf.graphs import BOTH_WAYS, name_of

GENERATED = {
    "star and chain": ("star:vertices=1001", "chain:vertices=1001", "star:vertices=1000001"),
    "uniform": ("uniform:scale=16", "uniform:scale=20"),
    "rmat": ("rmat:scale=16", "rmat:scale=20"),
    "other generated": (
        "small_world:vertices=65536",
        "barabasi_albert:vertices=65536",
        "geometric:vertices=65536",
        "road:width=256,height=256",
    ),
    "constant degree": (
        "degree4:side=64",
        "degree6:side=16",
        "constant_degree:dimensions=5,side=16",
        "constant_degree:dimensions=10,side=4",
        "constant_degree:dimensions=20,side=2",
        "degree6:side=100",
        "degree4:side=1000",
    ),
}
"""What takes longest comes last."""

ORDERED_FAMILY = "orders"
"""Graphs whose vertices are in several orders, for a study of their own (perf/gpu_orders.py)."""

LONG = {"long": ("chain:vertices=1000001",)}

REAL = {
    "road": (
        "tntp-SiouxFalls", "tntp-ChicagoRegional", "mpsp-Porto", "algs4-usa-road", "luxembourg_osm",
        "dimacs9-NY", "dimacs9-FLA",
    ),
    "mesh": ("power", "4elt", "wing", "delaunay_n16"),
    "social": (
        "karate", "lesmis", "jazz", "polblogs", "wiki-Vote", "facebook_combined", "PGPgiantcompo",
        "email-Enron", "loc-brightkite", "fb100-Cornell5", "soc-Slashdot0902", "ego-twitter",
    ),
}  # fmt: skip
OTHER = "other real"
"""The family of files that are not listed."""


def real_graphs(folder: Path) -> dict[str, list[str]]:
    """Family -> specs of the text files of a folder, the smallest file first.

    Raises
    ------
    UsageError
        If there is no such folder, or no edge list in it.
    """
    files = sorted(folder.glob("*.txt*"), key=lambda path: (path.stat().st_size, path.name))
    if not files:
        raise UsageError(f"--real {folder}: expected a folder of edge lists (.txt, .txt.xz)")
    families = {name: family for family, names in REAL.items() for name in names}
    found: dict[str, list[str]] = {}
    for path in files:
        with open(path, "rb") as file:
            packed = opener(path)
            undirected = b"undirected" in (packed(file) if packed else file).readline()
        spec = f"{path}{BOTH_WAYS * undirected}"
        found.setdefault(families.get(name_of(str(path)), OTHER), []).append(spec)
    return found


def graphs_of(real: Path | None) -> dict[str, list[str]]:
    """Family -> specs of all graphs that both algorithms run on."""
    generated = {family: list(specs) for family, specs in GENERATED.items()}
    return (real_graphs(real) if real is not None else {}) | generated
