"""
Widest paths
============

The heaviest load that can go from a source to every vertex: a path is as wide as its narrowest edge.
Run: ``python apps/widest_path.py [graph]``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop

# %%
# A vertex that hears of a wider path takes it, and tells its neighbours.


class WidestPath(gpop.Program):
    width = gpop.VertexField(np.uint32)  # widest path found so far; 0: none
    combine = "max"  # gatherFunc takes the largest message
    inactive_message = gpop.HARMLESS  # hearing an old width again changes nothing

    def start(self, source):  # what profilers begin with, too: python -m perf l2 --program FILE.py:WidestPath
        self.width[source] = np.iinfo(np.uint32).max
        return [source]

    def scatterFunc(self, node):
        return self.width[node]

    def applyWeight(self, value, weight):
        return min(value, weight)  # a path is as wide as its narrowest edge

    def gatherFunc(self, value, node):
        if value > self.width[node]:
            self.width[node] = value
            return True
        return False


# %%
# The result is a fixpoint, so that partitions need not wait for each other (``interleave``).
if __name__ == "__main__":
    here, *words = sys.argv if "__file__" in globals() else ["notebook"]
    path = words[0] if words else Path(here).resolve().parents[1] / "data/road.bin"
    program = WidestPath(gpop.load(path, weighted=True))
    run = gpop.run(program, frontier=program.start(0), interleave=True)
    reached = program.width[1:][program.width[1:] > 0]
    print(f"{reached.size} vertices reached from vertex 0 in {run.iterations} iterations")
    print(f"widest path {reached.max()}, narrowest {reached.min()}, median {np.median(reached):.0f}")

# %%
# How many vertices a load can reach, by its weight.
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.ecdf(reached, complementary=True)
    axes.set(xlabel="load", ylabel="share of the vertices that it can reach", ylim=0)
