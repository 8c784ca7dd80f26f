"""Functions of a graph that resolve what they are asked to a *way*, which is kept with the graph.

A call of an app first checks what it is given and finds out what to do: which method or program, with which
parameters and options. That depends on the arguments and the graph, which does not change. So the function
returns a way, and that is noted with the graph (`gpop.graph.kept.Store.note`), under the arguments and their
types: 1, 1.0 and True are equal, and not always the same to an app. The next call with the same arguments is
one look-up and the way. What is noted does not lead back to the graph.

Nothing is noted where each call has more to do: where several ranks run it, or somebody is told of what is
compiled meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

from gpop.apps.options import one_call
from gpop.apps.result import AppResult
from gpop.common.launched import launched_ranks
from gpop.common.parallel import worker_count
from gpop.common.progress import is_telling
from gpop.graph.graph import Graph

P = ParamSpec("P")
Result = TypeVar("Result", bound=AppResult)

Way: TypeAlias = Callable[[Graph, Any], Result]
"""What is called with the graph, and with what is ``apart`` from the arguments that decide."""

PLAIN = frozenset((str, int, float, bool, type, type(None)))
"""Types of arguments that say all that they are by their value."""


def threads_of_machine(options: dict[str, Any]) -> int:
    """Threads of a run where nobody says how many; 0 where somebody does, or they mean nothing.

    What a call resolves to may depend on it: on where this process may run, which can change.
    """
    return 0 if options.get("target") == "gpu" or options.get("threads") is not None else worker_count()


def resolving(apart: str = "") -> Callable[[Callable[P, Way[Result]]], Callable[P, Result]]:
    """As `gpop.apps.options.one_call`, of a function that returns a way to its result.

    ``apart``: the parameter after the graph, where the way looks at that.

    Examples
    --------
    >>> import gpop
    >>> graph = gpop.Graph.from_edges([0, 1], [1, 2])
    >>> [gpop.bfs(graph, source).level.tolist() for source in (0, 1)]
    [[0, 1, 2], [-1, 0, 1]]
    """
    return partial(_resolving, apart)


def _resolving(apart: str, function: Callable[..., Way[Result]]) -> Callable[..., Result]:
    first, told = 2 if apart else 1, function.__annotations__
    told["return"] = told["return"].removeprefix("Way[").removesuffix("]")  # what callers get

    def key_of(arguments: tuple, options: dict[str, Any]) -> tuple:
        given = (*arguments[first:], *options.values())
        # To count cores takes 2 us, and to call what asks for it, too.
        threads = 0 if options.get("threads") is not None else threads_of_machine(options)
        return call, threads, *given, *map(type, given), *options

    @wraps(function)
    def resolve(*arguments: Any, **options: Any) -> Result:
        arguments = arguments or (options.pop("graph"),)
        if apart in options and len(arguments) == 1:
            arguments = (*arguments, options.pop(apart))
        graph, given = arguments[0], arguments[1:first]
        types = map(type, (*arguments[first:], *options.values()))
        if is_telling() or launched_ranks() > 1 or "transport" in options or not PLAIN.issuperset(types):
            return function(*arguments, **options)(graph, *given)
        key = key_of(arguments, options)
        way = graph.store.noted(key) if len(arguments) >= first else None
        if way is None:
            way = function(*arguments, **options)
            graph.store.note(key, way)
        return way(graph, *given)

    checked = one_call(resolve)

    @wraps(checked)
    def call(*arguments: Any, **options: Any) -> Result:
        if len(arguments) >= first and type(graph := arguments[0]) is Graph:
            try:
                way = graph.store.noted(key_of(arguments, options))
            except TypeError:  # something that is no option, and not plain
                way = None
            if way is not None:  # all was checked when it was noted
                result = way(graph, *arguments[1:first])
                vars(result)["graph"] = graph
                return result
        return checked(*arguments, **options)

    return call
