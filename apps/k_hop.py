"""
Who is within k hops
====================

How many vertices lie within 1, 2, ... k hops of a source: a search that ends after k iterations.
Run: ``python apps/k_hop.py [graph] [source] [k]``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop

# %%
# A vertex that hears a number of hops for the first time keeps it, and passes on one more.


class KHop(gpop.Program):
    hops = gpop.VertexField(np.int32, -1)  # -1: not reached

    def scatterFunc(self, node):
        return self.hops[node] + 1

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False


# %%
# Only the source is active at first. In the karate club nobody is more than three hops from member 0.
if __name__ == "__main__":
    here, *words = sys.argv if "__file__" in globals() else ["notebook"]
    path = words[0] if words else Path(here).resolve().parents[1] / "data/karate.bin"
    source, k = (int(text) for text in words[1:3] or (0, 3))
    program = KHop(gpop.load(path))
    program.hops[source] = 0
    gpop.run(program, frontier=[source], iterations=k)
    for hop, count in enumerate(np.bincount(program.hops[program.hops >= 0]).cumsum()):
        print(f"within {hop} hops of vertex {source}: {count} of {program.graph.n} vertices")

# %%
# The same as a picture: every vertex where the normalised Laplacian's eigenvectors put it.
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    adjacent = program.graph.to_scipy().toarray() > 0
    scale = 1 / np.sqrt(adjacent.sum(0).clip(1))
    x, y = np.linalg.eigh(-scale * adjacent * scale[:, None])[1][:, 1:3].T * scale
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(*(place[np.array(adjacent.nonzero())] for place in (x, y)), color="0.8", lw=0.5)
    dots = axes.scatter(x, y, c=program.hops, cmap="viridis_r", s=60, zorder=2)
    axes.set_axis_off()
    figure.colorbar(dots, label=f"hops from vertex {source}", ticks=range(k + 1))
