"""
Shortest paths in the matrix view
=================================

Distances as a product of matrix and vector whose sum is a minimum, after HPGraph (`gpop.matrix`).
Run: ``python apps/matrix_paths.py [graph] [source]``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop
from gpop.matrix import MatrixProgram

# %%
# A row of the matrix is a vertex, its elements are the weights of the in-edges. In an iteration each row
# gathers from its active neighbours and keeps the smallest, y; rows that improve are active in the next.


class Paths(MatrixProgram):
    Edges_type = "in-edges"
    Node_property = {"distance": (np.uint32, 2**31 - 1)}  # far, with room for a weight
    Reduce = "min"
    inactive_message = gpop.HARMLESS

    @staticmethod
    def Gather(distance, weight):
        return np.uint32(distance + weight)

    @staticmethod
    def Update(y, distance):
        return y if y < distance else distance


# %%
# On a GPU ``mode="hyb"`` gathers from HPGraph's layout. The streets are those of the bundled town.
if __name__ == "__main__":
    here, *words = sys.argv if "__file__" in globals() else ["notebook"]
    path = words[0] if words else Path(here).resolve().parents[1] / "data/road.bin"
    source = int(words[1]) if words[1:] else 0
    program = Paths(gpop.load(path, weighted=True))
    program.distance[source] = 0
    run = program.run([source])
    reached = program.distance[program.distance < 2**31 - 1]
    print(f"{reached.size} of {program.graph.n} vertices reached in {run.iterations} iterations")
    print(f"the farthest at distance {reached.max()}, on average {reached.mean():.0f}")

# %%
# The town is a grid of 141 by 142 crossings, some of which no street leads to (white).
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    town = np.where(program.distance < 2**31 - 1, program.distance, np.nan).reshape(142, 141)
    figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
    figure.colorbar(axes.imshow(town, cmap="viridis_r"), label=f"distance from vertex {source}")
    axes.set_axis_off()
