"""Numbers that kernels are compiled with and the host counts on: threads, bytes, where work changes hands.

Read as ``limits.HUB``, so that whoever sets one (a study, a test) sets it for the kernels and the tables.
"""

from __future__ import annotations

from gpop.graph.graph import Graph

BLOCK_THREADS = 1024
MOST_BLOCKS = 1024
"""One on each multiprocessor; no device has so many."""

VERTEX_BYTES, OFFSET_BYTES, ID_BYTES, SEGMENT_BYTES = 4, 8, 2, 32
"""Of a vertex in CSR and in lists (a word of the frontier's bits has as many), of an offset, of a local id
in the bins, and of the header of a segment (layout.cuh)."""

ONE_BLOCK = 1 << 12
"""Vertices and edges up to which one block does a run: it is through before many have met as often."""

ONE_BLOCK_THREADS = 512
"""Of that."""

LEVEL_EDGES = 1 << 20
"""Most active vertices, and most edges of them, of an iteration that has little to do (levels.cuh). On an
H200 searches and paths took .77 to .91 of the time that they take with a quarter of it on four graphs of .4
to 3.2 million edges, on six others as long."""

LEVEL_DEGREE = 1 << 12
"""Most edges of a vertex in such an iteration: a block walks them."""

LONG_LIST = 32
"""Vertices with more edges are walked by all warps of a block (long_lists.cuh). On an H200 paths on votes and
mails took .52 and .54 of the time with 32, .55 and .57 with 64, of that without."""

CLUSTER = 16
"""Blocks that iterate together while so little is active that they are enough (levels_loop.cuh)."""

CLUSTER_THREADS = 512
"""Of each. On an H200 a level of a grid took 3.8 us with 16 blocks of 512, 4.1 with 16 of 1,024, 4.8 with
16 of 256, and 5.0 with 8 of 512."""

CLUSTER_EDGES = 1 << 14
"""Most active vertices, and most edges of them, of an iteration that is theirs."""

PIECE = 1 << 7
"""Of longer lists a level has an entry for each so many edges, where a run has levels alone
(level_store.cuh). On an H100 paths on mails took .94, a search of a web graph .95, and one of a dense graph
1.14 of the time that they take undivided; with 64 edges most took more."""

SWEEP_THREADS = 640
"""Of a block, where a run has levels alone (swept_loop.cuh). With 768 registers are too few: on an H200
searches and paths on six graphs took .95 to 1.1 of the time."""

LEVEL_SHARED = 1 << 15
"""Bytes of shared memory that a block of these wants: what finds no room there costs an atomic each."""

ASK_EDGES, ASK_SHARE = 1 << 16, 8
"""In a level with more edges, and more than one in so many of all, vertices ask that want messages still
(level_ask.cuh). On an H200 a search of mails took .93 of the time that it takes with pushes alone, of friends
.75 and .64, of a random graph .62. With 2**15 and 20 a search of citations took 1.2."""

ASK_DEGREE, ASK_LEAST, MOST_ASKED = 8, 1 << 18, 1 << 12
"""Edges a vertex, and edges, from which a graph may have such levels (a kernel that has none is faster by a
hundredth); and most in-edges of a vertex in it, all of which a warp may have to look at for nothing."""

MOST_LISTED = 1 << 18
"""Vertices of a new bucket are listed where at most so many waited; else they are bits (buckets.cuh)."""

HEAVY = 256
"""Vertices with more edges are pushed in pieces of so many."""

HUB = 512
"""A vertex with more in-edges is gathered by a warp of its own (owner.cuh)."""

LONG_ROW = 32
"""Vertices with more in-edges are walked by a warp each, where others have a few lanes (rows.cuh)."""

PAGE_BYTES = 1 << 16
"""Of streamed arrays: copied to the device, or left with the host, as a whole (stored.cuh)."""

MOST_LANE_IDS = 16
"""Ids that one thread takes at once (strip.cuh); half as many where each comes with a weight: registers."""

LEAST_SHARED = 1 << 14
"""Candidates of a sparse iteration want some, and vertices that wait for a warp (in_edges.cuh)."""


def fit_one_block(graph: Graph) -> bool:
    """Whether one block does a run on the graph (`ONE_BLOCK`)."""
    return graph.n + graph.m <= ONE_BLOCK
