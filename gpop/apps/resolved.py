"""What the arguments of a call resolve to, kept with the graph for the next call with the same ones.

A call of an app first checks what it is given and finds out what to do: which method or program, with which
parameters and options. That depends on the arguments and the graph, which does not change. So it is noted
with the graph (`gpop.graph.kept.Store.note`), under the arguments and their types: 1, 1.0 and True are equal,
and not always the same to an app. What is noted does not lead back to the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gpop.common.parallel import worker_count
from gpop.graph.graph import Graph

T = TypeVar("T")

PLAIN = frozenset((str, int, float, bool, type, type(None)))
"""Types of arguments that say all that they are by their value."""


def threads_of_machine(options: dict[str, Any]) -> int:
    """Threads of a run where nobody says how many; 0 where somebody does, or they mean nothing.

    What a call resolves to may depend on it: on where this process may run, which can change.
    """
    return 0 if options.get("target") == "gpu" or options.get("threads") is not None else worker_count()


def resolved(make: Callable[..., T], graph: Graph, *arguments: Any, options: dict[str, Any]) -> T:
    """``make(graph, *arguments, options)``; of plain arguments the one that was made before.

    Examples
    --------
    >>> graph = Graph.from_edges([0], [1])
    >>> made = [resolved(lambda graph, x, options: [x], graph, x, options={}) for x in (1, 1.0)]
    >>> made
    [[1], [1.0]]
    >>> def doubled(graph, x, options):
    ...     return [2 * x]
    >>> resolved(doubled, graph, 3, options={}) is resolved(doubled, graph, 3, options={})
    True
    """
    given = (*arguments, *options.values())
    types = (*map(type, given),)
    key = (make, *given, *types, *options)
    try:
        found = graph.store.noted(key)
    except TypeError:  # something that is no option, and not plain
        return make(graph, *arguments, options)
    if found is None:
        found = make(graph, *arguments, options)
        if PLAIN.issuperset(types):  # only then is it noted, so that none is found for others
            graph.store.note(key, found)
    return found
