"""
Who matters in a novel
======================

The characters of Les Misérables who appear together, and three ways to say who is important: PageRank,
betweenness, and the core number. Results speak in the names of the input.
"""

import networkx as nx
from matplotlib import pyplot as plt

import gpop

graph = gpop.Graph.from_networkx(nx.les_miserables_graph())
graph

# %%
# The ten highest ranks, by weight: two who appear together often share more.
ranks = gpop.pagerank(graph, weighted=True, dangling="uniform")
ranks.top(10)

# %%
# The same names by betweenness and by core number: who connects groups is not always in the thick of one.
between, cores = gpop.betweenness(graph), gpop.core_number(graph)
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.scatter(cores.core, between.score, alpha=0.5)
for name, score in between.top(6):
    axes.annotate(name, (cores.core[graph.vertex_of(name)], score), (4, 4), textcoords="offset points")
axes.set(xlabel="core number", ylabel="betweenness")
