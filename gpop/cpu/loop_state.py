"""What the loop over iterations (loop.py) keeps between calls: slots of an array, ``progress``."""

ITERATION, SCATTER_SIZE, FRONTIER, EDGES, ROWS, NEEDY, NEEDY_EDGES = range(7)
NO_IN_EDGES, HALF, ITEMS, FRESH, TEAM, VISITED, RESTED = range(7, 14)
LEAST_ALONE, ALONE_UNTIL, PATIENCE, SHARED, PACE = range(14, 19)
PROGRESS_SIZE = 19
"""Slots of ``progress``, the loop's state between calls (int64). The vertices that want messages, and
their in-edges, are estimated: all that were never in the frontier; after a pull they are known.
``NO_IN_EDGES``: the loop has returned because it wants to pull. ``HALF``: it has returned in the middle of an
iteration, and this phase is next, over ``ITEMS``. ``FRESH``: nothing has been done yet. ``TEAM``: `MAY_CALL`
when there are workers who were not called, and `CALL` when the loop has returned because it wants them.
``VISITED``: vertices of all earlier frontiers. ``RESTED``: in so many iterations before the main thread was
alone. ``LEAST_ALONE``: where all are active, the least nanoseconds in which the main thread alone has
delivered all messages, when it last did; 0 where it never has.
``ALONE_UNTIL``: until then it does phases of few edges alone; ``PATIENCE``: for so many times what an
iteration has taken it will, when the others are next found to be no help; ``SHARED``: the mean nanoseconds of
the last ones that they shared, 0 where it is not known. ``PACE``: where frontiers differ, the picoseconds for
each active edge that an iteration has last taken the main thread alone, if it pushed; 0 where it never has.
The next run on the same layout knows all from ``LEAST_ALONE`` on, too."""

MAY_CALL, CALL = 1, 2
