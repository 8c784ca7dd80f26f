"""Make the graph files of this folder: ``python data/make.py`` (needs NetworkX).

karate.bin and lesmis.bin are exports of graphs built into NetworkX; road.bin comes from the
project's own seeded generator. Running it again writes the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from gpop.generate import generate
from gpop.graph.graph import Graph

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Write every file and print what it holds."""
    graphs = {
        # without its weights, so that there is an unweighted graph too
        "karate": Graph.from_networkx(nx.karate_club_graph(), weight=None),
        "lesmis": Graph.from_networkx(nx.les_miserables_graph()),
        "road": generate("road", seed=1),
    }
    for name, graph in graphs.items():
        path = HERE / f"{name}.bin"
        graph.save(path)
        print(f"{path.name}: {graph.n} vertices, {graph.m} edges, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
