"""Options of the one-call functions: what is wrong with one is said in one line about that function."""

from __future__ import annotations

import inspect
import re
import sys
from functools import partial

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from tests.programs import Rumours

GRAPH = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 1, 1])
CALLS = {
    "bfs": (gpop.bfs, 0),
    "sssp": (gpop.sssp, 0),
    "pagerank": (gpop.pagerank,),
    "connected_components": (gpop.connected_components,),
    "triangle_count": (gpop.triangle_count,),
    "clustering": (gpop.clustering,),
    "label_propagation": (gpop.label_propagation,),
    "coloring": (gpop.coloring,),
    "spanning_forest": (gpop.spanning_forest,),
    "betweenness": (gpop.betweenness,),
    "closeness": (gpop.closeness,),
    "katz": (gpop.katz,),
    "hits": (gpop.hits,),
    "personalized_pagerank": (gpop.personalized_pagerank, 0),
    "independent_set": (gpop.independent_set,),
    "nibble": (gpop.nibble, 0),
    "heat_kernel": (gpop.heat_kernel, 0),
    "pagerank_nibble": (gpop.pagerank_nibble, 0),
}


@pytest.mark.parametrize("reorder", [{}, {"reorder": "degree"}])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "options, message",
    [
        ({"thread": 2}, r" takes no option 'thread' \(did you mean threads\?\): expected some of \w+, "),
        ({"interlave": True}, r" takes no option 'interlave' \(did you mean interleave\?\): expected"),
        ({"frontier": [0]}, r" takes no option 'frontier'(?! \(did you mean frontier)"),
        ({"threads": "x"}, "threads 'x': expected a whole number$"),
        ({"threads": 2.0}, r"threads 2\.0: expected a whole number$"),
        ({"partition_size": 2.0}, r"partition_size 2\.0: expected a whole number$"),
    ],
)
def test_one_line_about_the_function(name, options, message, reorder):
    function, *arguments = CALLS[name]
    about = name if message.startswith(" ") else ""
    with pytest.raises(gpop.UsageError, match=f"^{about}{message}") as caught:
        function(GRAPH, *arguments, **options, **reorder)
    assert "\n" not in str(caught.value)


def test_an_option_of_the_app_is_suggested():
    with pytest.raises(gpop.UsageError, match=r"'dampin' \(did you mean damping\?\): expected some of damp"):
        gpop.pagerank(GRAPH, dampin=0.5)
    with pytest.raises(TypeError, match="did you mean threshold"):  # what Python itself would raise
        gpop.nibble(GRAPH, 0, treshold=0.5)


JUNK = ("x", float("nan"), object, [[1], [2, 3]], {}, -1, None)
"""Not one of which a number, a method or a vertex may be."""


@pytest.mark.parametrize("junk", JUNK, ids=str)
def test_junk_is_refused_in_one_line_or_means_something(junk):
    """No error of Python's own, whatever an argument is given."""
    refused = 0
    for name in gpop.__all__:
        function = getattr(gpop, name)
        if not getattr(function, "__module__", "").startswith("gpop.apps.") or name == "report":
            continue
        named = [*inspect.signature(function).parameters.values()][1:-1]
        given = [0] if named[0].default is inspect.Parameter.empty else []
        for parameter in named:
            arguments = [] if parameter is named[0] else given
            try:
                function(GRAPH, *arguments, **{parameter.name: junk})
            except gpop.UsageError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused > 10


def flags():
    """Calls by what they are: each with one option that is true or false."""
    program = {"gpop.run": lambda **option: gpop.run(Rumours(GRAPH), **option)}
    graphs = {
        "gpop.load": lambda **option: gpop.load("none.bin", **option),
        "from_scipy": lambda **option: gpop.Graph.from_scipy(GRAPH.to_scipy(), **option),
        "generate": lambda **option: generate("grid", width=2, height=2, **option),
    }
    apps = {name: partial(function, GRAPH, *given) for name, (function, *given) in CALLS.items()}
    named = {
        "gpop.load": ("weighted", "symmetrize", "progress", "header"), "from_scipy": ("weighted",),
        "generate": ("symmetrize", "permute", "progress"),
        "pagerank": ("weighted",), "betweenness": ("normalized",), "closeness": ("wf_improved",),
        "katz": ("normalized", "weighted"), "hits": ("weighted",), "personalized_pagerank": ("weighted",),
        **dict.fromkeys(("bfs", "sssp", "connected_components"), ("interleave", "counters", "gather")),
        "gpop.run": ("interleave", "counters", "gather", "progress"),
    }  # fmt: skip
    for name, function in (program | graphs | apps).items():
        for option in (*named.get(name, ()), *(("progress",) if name in apps else ())):
            yield pytest.param(function, option, id=f"{name} {option}")


@pytest.mark.parametrize("function, option", [*flags()])
def test_only_true_and_false_are_either(function, option):
    for junk in ("no", "True", 2, 0.0, []):
        with pytest.raises(gpop.UsageError, match=rf"^{option} .*: expected True or False$"):
            function(**{option: junk})


def test_flags_of_numpy_are_flags():
    assert gpop.pagerank(GRAPH, iterations=2, weighted=np.True_).iterations == 2
    assert not gpop.connected_components(GRAPH, method="labels", interleave=0).run.interleave
    assert gpop.connected_components(GRAPH, method="labels", interleave=None).run.interleave


def test_numbers_of_numpy_are_numbers():
    assert gpop.bfs(GRAPH, 0, threads=np.int64(1), partition_size=np.uint8(2)).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", CALLS)
def test_there_is_one_function_and_help_shows_all_that_it_takes(name):
    function = getattr(gpop, name)
    assert function is getattr(sys.modules[function.__module__], name)
    assert function.__module__.startswith("gpop.apps.")
    parameters = inspect.signature(function).parameters
    assert parameters["reorder"].kind is inspect.Parameter.KEYWORD_ONLY
    assert [*parameters][-1] == "options"
    documented = function.__doc__.partition("Parameters\n")[2]
    assert {*parameters} <= {*re.findall(r"^    (?:\*\*)?(\w+)", documented, re.MULTILINE)}


@pytest.mark.parametrize("name", ["bfs", "pagerank", "nibble", "heat_kernel", "pagerank_nibble"])
def test_what_cannot_be_interleaved_says_so_by_its_own_name(name):
    function, *arguments = CALLS[name]
    with pytest.raises(gpop.UsageError, match=f"^{name} cannot be interleaved"):
        function(GRAPH, *arguments, interleave=True)
