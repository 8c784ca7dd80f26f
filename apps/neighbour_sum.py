"""The smallest program: every vertex adds up a value of its in-neighbours.

With the out-degree as the value: whose neighbours know the most. Run: python apps/neighbour_sum.py [graph]
"""

import sys
from pathlib import Path

import numpy as np

import gpop


class NeighbourSum(gpop.Program):
    value = gpop.VertexField(np.float64)
    total = gpop.VertexField(np.float64)
    all_active = True  # every vertex sends; no frontier
    combine = "add"

    def scatterFunc(self, node):
        return self.value[node]

    def gatherFunc(self, value, node):
        self.total[node] += value
        return True


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data/karate.bin"
    program = NeighbourSum(gpop.load(path))
    program.value = program.graph.out_degree
    gpop.run(program, iterations=1)
    for vertex in np.argsort(-program.total)[:5]:
        print(f"the neighbours of vertex {vertex} have {program.total[vertex]:.0f} edges in all")
