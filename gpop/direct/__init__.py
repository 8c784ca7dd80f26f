"""Algorithms on the adjacency lists themselves: no messages, no bins.

==================  ==========================================================================
searches            ``breadth_first``: one thread begins, ``breadth_first_alone``,
                    ``breadth_first_steps``; from a large level on ``breadth_first_together``,
                    ``breadth_first_together_steps``, on roads ``breadth_first_halves`` and
                    ``breadth_first_parts``;
                    ``shortest_paths``, ``shortest_paths_steps``; ``calendar``, ``calendar_steps``,
                    ``calendar_alone`` and, by threads, ``calendar_together``,
                    ``calendar_together_steps`` or, where neighbours are near, ``calendar_owned``,
                    ``calendar_owned_steps``; ``betweenness``, ``betweenness_job``,
                    ``betweenness_steps``, ``distance_sums``
components          ``afforest``, ``afforest_steps``, ``forest`` (union-find), ``components``, ``strong``,
                    ``depth_first``, ``spanning_forest``
counting            ``triangles``, ``triangles_steps``, ``clustering``, ``oriented``, ``neighbourhoods``,
                    ``cores``, ``cores_alone``
labels and scores   ``label_propagation``, ``coloring``, ``hits``
threads             ``phases``, ``crew`` (one leads), ``shared_job`` (how they are called),
                    ``frontier`` (what they fill together)
==================  ==========================================================================
"""
