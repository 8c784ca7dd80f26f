"""Algorithms on the adjacency lists themselves, on a GPU: no messages, no bins; see `gpop.direct`."""
