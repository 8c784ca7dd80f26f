"""Partitions, bins and the other layouts of a graph's edges, in memory and in files."""
