"""Options of the one-call functions: those that all of them take, and a check of all before any work.

An app takes the options of `gpop.run` without listing them, so one that nobody knows would be refused by
`gpop.run`, in words about a program that the caller never saw.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from gpop.apps.on_ranks import on_ranks
from gpop.apps.reorder import reorderable
from gpop.apps.result import AppResult
from gpop.common.arguments import as_count
from gpop.common.flags import ONLY_BOOL, check_flags, flags_of
from gpop.common.launched import launched_ranks
from gpop.common.progress import SILENT, telling
from gpop.common.spelling import options_of, refuse_option
from gpop.execution.run import run
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.ranks.world import world_of

P = ParamSpec("P")
Result = TypeVar("Result", bound=AppResult)

WHOLE = frozenset(("threads", "partition_size", "iterations"))
_NUMBERS = frozenset((int, type(None)))

ELSEWHERE = "reorder", "transport"
"""Options that say how or where the function is called."""


def one_call(function: Callable[P, Result]) -> Callable[P, Result]:
    """What makes a function of a graph one that the package exports: ``reorder=``, options checked, names.

    It refuses options that neither it nor `gpop.run` has; its result knows the graph.

    Examples
    --------
    >>> import gpop
    >>> "reorder" in inspect.signature(gpop.bfs).parameters
    True
    >>> gpop.bfs(gpop.Graph.from_edges([0], [1]), 0, thread=2)
    Traceback (most recent call last):
    gpop.common.spelling.UnknownOption: bfs takes no option 'thread' (did you mean threads?): expected some of
    source, method, reorder, iterations, mode, interleave, threads, target, ratio, model, partition_size,
    progress, callback, counters, transport, gather, checkpoint, residency, device_memory
    """
    ordered, called = reorderable(function), function.__name__
    named = [
        name
        for name, parameter in inspect.signature(ordered).parameters.items()
        if name != "graph" and parameter.kind is not parameter.VAR_KEYWORD
    ]
    known = dict.fromkeys([*named, *options_of(run)])
    names, flags = frozenset([*known, "graph"]), flags_of(run) | flags_of(ordered)

    counted = names - flags.keys() - {"graph", *ELSEWHERE}
    plain = counted - WHOLE

    def check(options: dict[str, Any]) -> None:
        if not names.issuperset(options):
            refuse_option(next(name for name in options if name not in names), list(known), called)
        for name in WHOLE.intersection(options):
            options[name] = as_count(name, options[name])
        if not ONLY_BOOL.issuperset(map(type, map(options.get, flags.keys() & options.keys()))):
            check_flags(flags, options)

    @wraps(ordered)
    def call(*arguments: P.args, **options: P.kwargs) -> Result:
        graph, solve, world = arguments[0] if arguments else options["graph"], function, None
        if not options.keys() <= plain:
            # Most calls give a number of threads, and to look at that takes no function of Python.
            if not (options.keys() <= counted and _NUMBERS.issuperset(map(type, options.values()))):
                check(options)
        if launched_ranks() > 1 or "transport" in options:
            world = world_of(options.get("transport", "auto"))
        if world is not None or "reorder" in options:
            solve = ordered if world is None else partial(on_ranks, ordered, world)
        elif type(graph) is not Graph:
            expect_graph(graph, called)  # all that the wrapper would do, which takes a microsecond
        shown = telling(called, bool(options.get("progress")))
        if shown is SILENT:
            return solve(*arguments, **options).of(graph)
        with shown:
            return solve(*arguments, **options).of(graph)

    return call
