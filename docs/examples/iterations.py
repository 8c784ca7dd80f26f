"""
What auto chose
===============

A breadth-first search in a graph of few levels: how much is active in each iteration, and in which mode the
partitions were scattered. The trace of every result has it.
"""

import numpy as np
from matplotlib import pyplot as plt

import gpop
from gpop.generate import generate

graph = generate("rmat", scale=14, seed=1, symmetrize=True)
trace = gpop.bfs(graph, int(np.argmax(graph.out_degree)), partition_size=1024).trace

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6, 5), layout="constrained")
iterations = range(len(trace))
above.bar(iterations, trace.column("active_edges") / graph.m)
above.set(ylabel="share of edges active")
bottom = np.zeros(len(trace))
for mode in ("sc", "pc", "pull"):
    partitions = trace.column(f"partitions_{mode}")
    below.bar(iterations, partitions, bottom=bottom, label=mode)
    bottom = bottom + partitions
below.set(xlabel="iteration", ylabel="partitions", xticks=iterations)
below.legend()

# %%
# The same as numbers, and what the model said that it moves:
for record in trace:
    print({name: record[name] for name in ("iteration", "frontier", "active_edges", "messages", "bytes")})
