"""The two common examples of the LDBC Graphalytics specification, with the answers of all six algorithms.

Vertices are 1 to 10 in the directed one and 2 to 10 in the undirected one; parameters are those of the
specification's figure.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpop

FAR = 9223372036854775807
"""What stands for the level of a vertex that is not reached."""


class Example(NamedTuple):
    """Edges, parameters and what each algorithm finds, vertex by vertex."""

    directed: bool
    ids: list[int]
    edges: list[tuple[int, int, float]]
    source: int
    bfs: list[int]
    pr: list[float]
    wcc: list[int]
    cdlp: list[int]
    lcc: list[float]
    sssp: list[float]
    iterations: int = 2
    damping: float = 0.85

    def write(self, folder: Path, name: str) -> Path:
        """The files of the benchmark in a new folder: properties (which are returned), graph, reference."""
        folder.mkdir()
        said = {
            "vertex-file": f"{name}.v", "edge-file": f"{name}.e", "meta.vertices": len(self.ids),
            "meta.edges": len(self.edges), "directed": str(self.directed).lower(),
            "edge-properties.names": "weight", "edge-properties.types": "real",
            "algorithms": "bfs, cdlp, lcc, pr, sssp, wcc", "bfs.source-vertex": self.source,
            "cdlp.max-iterations": self.iterations, "pr.damping-factor": self.damping,
            "pr.num-iterations": self.iterations, "sssp.weight-property": "weight",
            "sssp.source-vertex": self.source,
        }  # fmt: skip
        lines = ["# Parameters", "", *(f"graph.{name}.{key} = {value}" for key, value in said.items())]
        (folder / f"{name}.properties").write_text("\n".join(lines) + "\n")
        (folder / f"{name}.v").write_text("".join(f"{id}\n" for id in self.ids))
        (folder / f"{name}.e").write_text("".join(f"{u} {v} {w}\n" for u, v, w in self.edges))
        for algorithm in ("bfs", "pr", "wcc", "cdlp", "lcc", "sssp"):
            values = [
                "Infinity" if value == np.inf else f"{value:.15e}" if isinstance(value, float) else str(value)
                for value in getattr(self, algorithm)
            ]
            table = "".join(f"{id} {value}\n" for id, value in zip(self.ids, values, strict=True))
            (folder / f"{name}-{algorithm.upper()}").write_text(table)
        return folder / f"{name}.properties"

    def graph(self) -> gpop.Graph:
        """The graph; an undirected one with both directions."""
        index = {id: v for v, id in enumerate(self.ids)}
        ends = [(index[u], index[v]) for u, v, _ in self.edges]
        weights = np.array([weight for _, _, weight in self.edges])
        graph = gpop.Graph.from_edges(*np.array(ends).T, weights, n=len(self.ids))
        graph.original_ids = np.array(self.ids)
        return graph if self.directed else graph.symmetrize()


EXAMPLES = {
    "example-directed": Example(
        directed=True,
        ids=list(range(1, 11)),
        edges=[
            (1, 3, 0.5), (1, 5, 0.3), (2, 4, 0.1), (2, 5, 0.3), (2, 10, 0.12), (3, 1, 0.53), (3, 5, 0.62),
            (3, 8, 0.21), (3, 10, 0.52), (5, 3, 0.69), (5, 4, 0.53), (5, 8, 0.1), (6, 3, 0.23), (6, 4, 0.39),
            (7, 4, 0.83), (8, 1, 0.39), (9, 4, 0.69),
        ],
        source=1,
        bfs=[0, FAR, 1, 2, 1, FAR, FAR, 2, FAR, 2],
        pr=[
            0.1477629166666667, 0.04753375, 0.1550469444444444, 0.1597573611111111, 0.14624, 0.04753375,
            0.04753375, 0.1135740277777778, 0.04753375, 0.08748375,
        ],
        wcc=[1] * 10,
        cdlp=[1, 2, 3, 4, 1, 1, 2, 3, 2, 1],
        lcc=[2 / 3, 1 / 6, 3 / 20, 1 / 20, 1 / 4, 0, 0, 5 / 6, 0, 0],
        sssp=[0, np.inf, 0.5, 0.83, 0.3, np.inf, np.inf, 0.4, np.inf, 1.02],
    ),
    "example-undirected": Example(
        directed=False,
        ids=list(range(2, 11)),
        edges=[
            (2, 3, 0.9), (2, 4, 0.69), (3, 4, 0.13), (3, 5, 0.5), (3, 8, 0.32), (5, 6, 0.63), (5, 8, 0.12),
            (6, 7, 0.53), (6, 8, 0.64), (6, 9, 0.23), (6, 10, 0.63), (7, 9, 0.36),
        ],
        source=2,
        bfs=[0, 1, 1, 2, 3, 4, 2, 4, 4],
        pr=[
            0.09084490740740739, 0.1424089506172839, 0.09084490740740739, 0.1249891975308642,
            0.1686172839506173, 0.09749537037037037, 0.1249891975308642, 0.09749537037037037,
            0.06231481481481481,
        ],
        wcc=[2] * 9,
        cdlp=[2, 3, 2, 2, 6, 5, 2, 5, 5],
        lcc=[1, 1 / 3, 1, 2 / 3, 1 / 5, 1, 2 / 3, 1, 0],
        sssp=[0, 0.82, 0.69, 1.26, 1.78, 2.31, 1.14, 2.01, 2.41],
    ),
}  # fmt: skip
