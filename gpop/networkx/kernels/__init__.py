"""Serial kernels over adjacency lists in a given order, for results in which that order decides.

NetworkX takes neighbours as they were added, and what a search finds first, or which of several shortest
paths it takes, follows from that. A parallel run would have to be put into this order afterwards, which takes
the same pass over the edges.
"""
