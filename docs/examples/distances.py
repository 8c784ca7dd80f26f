"""
Distances in a town
===================

Shortest paths from one crossing of the bundled road network to all others, drawn as a map: the town is a grid
of 141 by 142 crossings with streets missing. One path is drawn in white.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import gpop

here = globals().get("__file__", "notebook")
graph = gpop.load(Path(here).resolve().parents[2] / "data/road.bin")
paths = gpop.sssp(graph, source=70 + 70 * 141)
town = np.where(paths.reached, paths.distance, np.nan).reshape(142, 141)
path = np.array(paths.path(138 + 5 * 141))

figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
picture = axes.imshow(town, cmap="viridis_r")
axes.plot(path % 141, path // 141, color="white", lw=1)
axes.set_axis_off()
figure.colorbar(picture, label="distance")

# %%
# How many crossings are how far away:
paths.plot()
