"""
Sums over neighbours
====================

The smallest program: every vertex adds up a value of its in-neighbours. With the out-degree as the value:
whose neighbours know the most.
Run: ``python apps/neighbour_sum.py [graph]``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop

# %%
# Two functions about one vertex: what it sends, and what it does with what it hears.


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


# %%
# One iteration is one round of messages.
if __name__ == "__main__":
    here, *words = sys.argv if "__file__" in globals() else ["notebook"]
    path = words[0] if words else Path(here).resolve().parents[1] / "data/karate.bin"
    program = NeighbourSum(gpop.load(path))
    program.value = program.graph.out_degree
    gpop.run(program, iterations=1)
    for vertex in np.argsort(-program.total)[:5]:
        print(f"the neighbours of vertex {vertex} have {program.total[vertex]:.0f} edges in all")

# %%
# Who knows many people, and who knows people who know many.
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.scatter(program.value, program.total, alpha=0.6)
    for vertex in np.argsort(-program.total)[:5]:
        axes.text(program.value[vertex] + 0.2, program.total[vertex] + 0.5, vertex)
    axes.set(xlabel="neighbours", ylabel="edges of the neighbours")
