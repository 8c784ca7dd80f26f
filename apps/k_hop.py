"""How many vertices lie within 1, 2, ... k hops of a source.

Run: python apps/k_hop.py [graph] [source] [k]
"""

import sys
from pathlib import Path

import numpy as np

import gpop


class KHop(gpop.Program):
    hops = gpop.VertexField(np.int32, -1)  # -1: not reached

    def scatterFunc(self, node):
        return self.hops[node] + 1

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data/karate.bin"
    source, k = (int(text) for text in sys.argv[2:4] or (0, 3))
    program = KHop(gpop.load(path))
    program.hops[source] = 0
    gpop.run(program, frontier=[source], iterations=k)
    for hop, count in enumerate(np.bincount(program.hops[program.hops >= 0]).cumsum()):
        print(f"within {hop} hops of vertex {source}: {count} of {program.graph.n} vertices")
