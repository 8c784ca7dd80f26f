"""gpop as a backend of NetworkX: ``nx.pagerank(G, backend="gpop")``, after ``pip install`` of both.

NetworkX finds `gpop.networkx.backend` and `gpop.networkx.info` by the entry points in pyproject.toml, and
loads them when it is asked for this backend. ``functions.py`` names what is dispatched and where it is; a
family of functions is a file; ``converted.py`` is the graph that they get, ``kernels/`` what they run where
the order of adjacency lists decides, and everything else is an app of gpop.

Semantics are NetworkX's: values, types, the order of dicts, generators and errors. What would come out
otherwise is refused by name (`can_run`, NotImplementedError), and NetworkX does it itself where it may fall
back.
"""
