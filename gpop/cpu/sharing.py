"""From how much work on the threads of a team share a phase, and when they are woken for it.

Numbers that the loop (loop.py) compares active edges, bytes and times with: to wake a thread, to wait for it
and to share a list with it costs as much as some thousand edges, and milliseconds where others want its core.
"""

from gpop.common.inlined import inline

SERIAL_EDGES = 512
"""Below so many active edges the calling thread does an iteration alone."""

LIGHT_EDGES = 1024
"""Below so many active edges per partition, several partitions are claimed at once."""

LIGHT_BUCKET = 64
"""What `SERIAL_EDGES` is for a bucket: inside the partitions many times the active edges are followed."""

WAIT_EDGES = 1 << 17
"""From so many active edges on, or `WAKE_BYTES`, a phase is begun before all workers have come: the last ones
find work. So is a part of an exchange, from so many vertices or words on."""

LATE_NS, LATE_RESTED_NS, ALONE, MOST_ALONE, ALONE_EDGES = 100_000, 500_000, 16, 1 << 9, 1 << 20
"""Where the main thread has waited so long for others that it would have been faster alone, somebody else
wants the cores: for so many times what it has waited it does phases of fewer edges alone. So it does, for so
many times the phase, where those that deliver all messages took all together longer than it alone before:
twice as long each time that this is found again, up to the larger number, since to find it out takes three
iterations, in which what the others have written is fetched from their caches, back and forth. The next run
goes on with that: a PageRank of 10 iterations, .15 ms each, took 1.3 times as long on two threads, while the
cores of a virtual machine were no help to each other, for it tried anew each time. An iteration after one in
which the workers had nothing to do, or had not yet come, says so only by the larger delay: a sleeper takes .1
ms, a call .2, and one that must wait for a core milliseconds. A mail graph, .14 ms an iteration, was else
followed alone from start to end in some processes. What takes all together less than its edges take the main
thread alone is no such phase: on a web graph one of ten partitions had most of what a level gathers, and a
search of 5 ms took two threads 7."""

PACE_EDGES = 1 << 13
"""Of a phase that says how long an edge takes the main thread alone."""

HELD_UP, RECENT = 4, 8
"""Of what is shared, one in so many of the mean is the last one, which counts as no more than so many times
what it takes alone: something may have held it up. When one such sent the main thread on alone, two threads
took .93 to .97 of the time of one on mails and citations, and .8 on a road, while a core was wanted for .5 ms
in each 2 or so; so .87 to .96 and .62."""

TRIED_ALONE = 2
"""Where all are active, the main thread does this iteration and the next one alone when it has never done so
on this graph, so that there is something to compare with: the second one, which finds all in its own cache.
Two cores may have no cache in common: on 240,000 edges an iteration took two threads .28 ms where one took
.23, for seconds, and at other times half as long as one."""

WAKE_NS = 80_000
"""Workers are called when the main thread has worked for so long, and there is work to share: a run that is
over before is as fast as on one thread. To call them takes .02 to .07 ms when it is quiet, so that no run
takes much more than twice of what it would if all was known. On two cores nibble took .85 to 1.1 of its time
with 1 ms when they were called after .3 ms, .8 to 1.0 after .15, .7 to .9 so, and no less after .04. Where
others want their cores, too, a phase of microseconds may wait for a worker for milliseconds."""

WAKE_BYTES = 1 << 20
"""They are called at once for an iteration in which the model expects so many bytes to move: with twice as
many a walk on a mail graph did its fifth iteration alone, 192,000 edges, a quarter of all its time."""

ROUNDS = 4
"""Where all are active, every iteration is like the first, and so many are expected at least, unless the
limit is lower: these bytes are those of all of them. On 100,000 edges, 17 iterations, the loop took .83 and
.93 of its time with a second thread that was called at once, in two runs in turns."""

FILL_BYTES = 1 << 20
"""From so many bytes of fields on threads fill them together: it takes one .1 ms, about as long as to wake
another."""

EXCHANGE_LOAD = 1 << 13
"""From so many vertices or words on threads share what there is to do for an exchange between ranks."""

EARLY_EDGES = 1 << 15
"""From so many active edges between own vertices on these scatter before all ranks are heard, in a phase of
its own."""

EDGE_BYTES, LINE_BYTES, FAR = 8, 64, 1 << 20
"""Of an active edge, in that estimate: what is read of it, and what is sent along it; and a cache line at its
other end on a graph of so many vertices, which are in no private cache. On 16 cores a search of RMAT 23 spent
a quarter of its time in its first iteration, of 244,000 edges, alone."""


@inline
def bytes_of_edge(vertices):
    """Of an active edge on a graph of so many vertices: see `EDGE_BYTES`."""
    return EDGE_BYTES + (LINE_BYTES if vertices >= FAR else 0)


@inline
def pays_to_call(edges, edge_bytes, alike, long):
    """Whether workers are called for an iteration of so many active edges, the first of ``alike`` like it.

    ``long``: whether the main thread has worked for `WAKE_NS`.
    """
    expected = edges * edge_bytes * min(ROUNDS, alike)
    return edges >= SERIAL_EDGES and (long or expected >= WAKE_BYTES)
