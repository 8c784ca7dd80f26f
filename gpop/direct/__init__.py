"""Algorithms on the adjacency lists themselves: no messages, no bins, threads in `gpop.direct.phases`."""
