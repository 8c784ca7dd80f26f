"""
Around a seed
=============

Heat-kernel PageRank from one crossing of the bundled road network: a local algorithm, whose cost is that of
the neighbourhood it finds and not of the graph.
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm

import gpop

here = globals().get("__file__", "notebook")
graph = gpop.load(Path(here).resolve().parents[2] / "data/road.bin")
found = gpop.heat_kernel(graph, 70 + 70 * 141)
found

# %%
# Only the vertices that were found have a value.
town = np.full(graph.n, np.nan)
town[found.vertices] = found.values
figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
picture = axes.imshow(town.reshape(142, 141)[40:102, 40:102], cmap="magma_r", norm=LogNorm())
axes.set_axis_off()
figure.colorbar(picture, label="probability")
