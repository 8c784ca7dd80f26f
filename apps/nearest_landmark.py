"""
The nearest of several landmarks
================================

Which of several landmarks is nearest to each vertex, and how far: one search from all of them.
Run: ``python apps/nearest_landmark.py``
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gpop

# %%
# A message carries both: distance above, landmark below. The smaller number is the shorter way.


class NearestLandmark(gpop.Program):
    best = gpop.VertexField(np.uint64, 2**63 - 1)  # far, with room for a weight
    combine = "min"
    inactive_message = gpop.HARMLESS

    def scatterFunc(self, node):
        return self.best[node]

    def applyWeight(self, value, weight):
        return value + (np.uint64(weight) << np.uint64(32))

    def gatherFunc(self, value, node):
        if value < self.best[node]:
            self.best[node] = value
            return True
        return False


# %%
# All landmarks are active at first. The result is a fixpoint, so that partitions need not wait for each other
# (``interleave``).
if __name__ == "__main__":
    here = sys.argv[0] if "__file__" in globals() else "notebook"
    program = NearestLandmark(gpop.load(Path(here).resolve().parents[1] / "data/road.bin", weighted=True))
    landmarks = np.linspace(0, program.graph.n, 5, endpoint=False).astype(np.uint32)
    program.best[landmarks] = landmarks
    gpop.run(program, frontier=landmarks, interleave=True)
    landmark, distance = program.best.astype("<u8").view("<u4").reshape(-1, 2).T
    for place in landmarks:
        mine = distance[(landmark == place) & (distance < 2**31 - 1)]
        print(f"landmark {place}: nearest to {mine.size} vertices, on average {mine.mean():.0f} away")

# %%
# The bundled town is a grid of 141 by 142 crossings, some of which no street leads to (white).
if __name__ == "__main__" and find_spec("matplotlib"):
    from matplotlib import pyplot as plt

    town = np.where(distance < 2**31 - 1, np.searchsorted(landmarks, landmark), np.nan).reshape(142, 141)
    figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
    axes.imshow(town, cmap="Set2", vmin=0, vmax=7, interpolation="nearest")
    axes.contour(np.where(np.isnan(town), np.nan, distance.reshape(142, 141)), colors="0.3", linewidths=0.5)
    axes.plot(landmarks % 141, landmarks // 141, "k*", markersize=12, clip_on=False)
    axes.set_axis_off()
