"""
Cores and triangles
===================

In a graph that grew by preferential attachment every vertex brought eight edges along, so that all lie in the
8-core; in a small world neighbours know each other. Two distributions tell them apart.
"""

from matplotlib import pyplot as plt

import gpop
from gpop.generate import generate

graphs = {
    "preferential attachment": generate("barabasi_albert", vertices=5000, degree=8, seed=1),
    "small world": generate("small_world", vertices=5000, degree=16, probability=0.1, seed=1),
    "random": generate("uniform", scale=12, degree=8, seed=1, symmetrize=True),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for name, graph in graphs.items():
    clustering = gpop.clustering(graph)
    left.hist(clustering.coefficient, bins=40, range=(0, 1), alpha=0.6, label=name)
    right.hist(gpop.core_number(graph).core, bins=range(4, 18), alpha=0.6, label=name)
    print(f"{name}: {graph.m} edges, transitivity {clustering.transitivity:.3f}")
left.set(xlabel="local clustering coefficient", ylabel="vertices", yscale="log")
right.set(xlabel="core number", ylabel="vertices")
left.legend()
