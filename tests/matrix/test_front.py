"""The matrix view: which edges a row visits, what the functions are given, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gpop
from gpop.matrix import MatrixProgram, programs
from gpop.matrix.edges import matrix_of
from gpop.program.lowering import lower
from tests.programs import random_graph

ARROW = gpop.Graph.from_edges([0, 1], [1, 2], np.array([5, 7], np.uint32))
"""0 -> 1 -> 2."""


class Visits(MatrixProgram):
    """A sum of 10**id over the neighbours that a row visits."""

    Node_property = {"seen": (np.int64, 0)}
    Reduce = "add"

    @staticmethod
    def Gather(node):
        return np.int64(10) ** np.int64(node)

    @staticmethod
    def Update(y):
        return y


class OutVisits(Visits):
    Edges_type = "out-edges"


class AllVisits(Visits):
    Edges_type = "all-edges"


@pytest.mark.parametrize(
    "cls, seen", [(Visits, [0, 1, 10]), (OutVisits, [10, 100, 0]), (AllVisits, [10, 101, 10])]
)
def test_a_row_visits_the_edges_it_says(cls, seen):
    program = cls(ARROW)
    program.run(iterations=1, target="python")
    assert program.seen.tolist() == seen
    program.run([2], iterations=1, target="python")  # rows that hear of nobody stay as they are
    assert program.seen.tolist() == {Visits: seen, OutVisits: [10, 100, 0], AllVisits: [10, 100, 10]}[cls]


def test_the_matrix_is_made_once():
    graph = random_graph(3, 30, 90, weights=True)
    both = matrix_of(graph, "all-edges")
    assert both is matrix_of(graph, "all-edges") and matrix_of(graph, "out-edges") is graph.reverse()
    assert both.m == 2 * graph.m and both.is_symmetric()
    matrix = graph.to_scipy().toarray()
    assert np.array_equal(both.to_scipy().toarray(), matrix + matrix.T)
    symmetric = gpop.Graph.from_edges([0, 1], [1, 0])
    assert matrix_of(symmetric, "out-edges") is symmetric


def test_along_all_edges_vertices_keep_their_names():
    graph = gpop.Graph.from_edges([0, 1], [1, 2], name="path")
    both = matrix_of(graph, "all-edges")
    for names in ["a", "b", "c"], [7, 8, 9], None:
        graph.original_ids = names
        found = matrix_of(graph, "all-edges")
        assert found is both and found.name == "path"
        assert (None if names is None else found.original_ids.tolist()) == names


def test_out_degrees_by_a_product_with_ones():
    """Figure 1 of the paper."""

    class Degrees(MatrixProgram):
        Edges_type = "out-edges"
        Node_property = {"degree": (np.uint32, 0)}
        Reduce = "add"

        @staticmethod
        def Gather():
            return np.uint32(1)

        @staticmethod
        def Update(y):
            return y

    graph = random_graph(3, 30, 90)
    program = Degrees(graph)
    program.run(iterations=1, target="python")
    assert np.array_equal(program.degree, graph.out_degree)


@pytest.mark.parametrize("most", [0, 1, 2, None])
def test_most_iterations(most):
    cls = type("Few", (programs.SSSP,), {"Max_iteration": most, "__module__": __name__})
    program = cls(ARROW)
    program.distance[0] = 0
    run = program.run([0], target="python")
    assert run.iterations == (3 if most is None else most)
    assert (program.distance < programs.FARTHEST).sum() == 1 + min(2, run.iterations)
    assert program.y.tolist() == [2**32 - 1] * 3


class Everything(MatrixProgram):
    """Arguments of all kinds; properties are updated together, from what they were."""

    Node_property = {"a": (np.float64, 1), "b": (np.float64, 2), "y": (np.float64, 0)}
    rate = gpop.Parameter(np.float64, 0.5)

    @staticmethod
    def Gather(weight, rate, a):
        return a * weight + rate

    @staticmethod
    def Reduce(b, value, y, node):
        return y + value * b + node

    Update = {"b": lambda a, y, iteration: a + y + iteration, "a": lambda b: b}


def test_arguments_are_found_by_their_names():
    program = Everything(ARROW)
    program.run([0, 1], iterations=1, target="python")
    heard = [(1 * 5 + 0.5) * 2 + 1, (1 * 7 + 0.5) * 2 + 2]
    assert program.b.tolist() == [2, 1 + heard[0], 1 + heard[1]]
    assert program.a.tolist() == [1, 2, 2]


def test_what_it_becomes():
    """A fold by name is declared; `Visited` lets vertices ask; the rest is left to the engine."""
    assert lower(programs.BFS).functions.keys() == {"scatterFunc", "gatherFunc", "filterFunc"}
    assert "needsFunc" in lower(programs.BottomUpBFS).functions
    assert "applyWeight" in lower(programs.SSSP).functions
    assert (programs.SSSP.combine, programs.PageRank.combine, programs.Common.combine) == ("min", "add", None)


def test_a_class_that_has_no_visited_takes_back_what_one_above_says():
    """Its vertices were still skipped where they pulled, and heard of everything where they did not."""
    always = type("Always", (programs.BottomUpBFS,), {"Visited": None, "__module__": __name__})
    assert lower(always).functions.keys() == {"scatterFunc", "gatherFunc", "filterFunc"}


def test_user_code_has_the_names_of_the_paper():
    """Four algorithms without a function of the vertex view; bottom-up has one more."""
    paper = {"Edges_type", "Max_iteration", "Node_property", "Gather", "Reduce", "Update"}
    own = {"all_active", "inactive_message", "d", "tolerance"}
    made = {"scatterFunc", "gatherFunc", "filterFunc", "applyWeight", "combine", "y"}
    for cls in (programs.BFS, programs.SSSP, programs.PageRank, programs.Neighbours, programs.Common):
        names = {name for name in vars(cls) if not name.startswith("_")}
        assert names - made - cls.Node_property.keys() <= paper | own, cls


def _declared(**members):
    base = {
        "Node_property": {"a": (np.uint32, 0)}, "Reduce": "min", "__module__": __name__,
        "Gather": staticmethod(lambda a: a), "Update": staticmethod(lambda y: y),
    }  # fmt: skip
    members = {name: value for name, value in (base | members).items() if value is not None}
    return lambda: type("Wrong", (MatrixProgram,), members)


WRONG = {
    "edges": (_declared(Edges_type="edges"), r"Wrong\.Edges_type = 'edges': expected one of in-edges, out-e"),
    "fold": (
        _declared(Reduce="sum"),
        r"Wrong\.Reduce = 'sum': expected a function or one of min, max, add, or",
    ),
    "no property": (_declared(Node_property={}), r"Wrong\.Node_property: expected a property"),
    "no pair": (
        _declared(Node_property={"a": np.uint32}),
        r"Node_property\['a'\] = .*: expected \(type, value\)",
    ),
    "taken": (_declared(Node_property={"value": (np.uint32, 0)}), "expected another name"),
    "of a program": (_declared(Node_property={"run": (np.uint32, 0)}), r"\['run'\] = .* another name"),
    "no name": (_declared(Node_property={"3": (np.uint32, 0)}), r"\['3'\] = .* another name"),
    "a keyword": (_declared(Node_property={"in": (np.uint32, 0)}), r"\['in'\] = .* another name"),
    "a number": (_declared(Node_property={3: (np.uint32, 0)}), r"\[3\] = .* another name"),
    "a parameter, too": (_declared(a=gpop.Parameter(np.uint32)), r"\['a'\] = .* another name"),
    "no y": (_declared(Reduce=staticmethod(lambda y, value: y)), "Node_property has no y: expected"),
    "no Gather": (_declared(Gather=None), "Wrong has no Gather: expected a static function"),
    "no Update": (_declared(Update=None), "Wrong has no Update: expected a static function"),
    "unknown": (
        _declared(Gather=staticmethod(lambda b: b)),
        r"test_front\.py:\d+: Wrong.Gather wants 'b': expec",
    ),
    "a self": (_declared(Update=lambda self, y: y), r"Wrong\.Update wants 'self': expected some of"),
    "y of a neighbour": (_declared(Gather=staticmethod(lambda y: y)), "Gather wants 'y'"),
    "two with a weight": (
        _declared(Gather=staticmethod(lambda a, node, weight: a)),
        r"Gather has weight and 2 values of the neighbour \(a, node\): expected one",
    ),
    "another property": (_declared(Update={"b": lambda y: y}), "Update of b: expected some of a"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused_in_one_line(name):
    make, message = WRONG[name]
    with pytest.raises(gpop.ProgramError, match=message) as refused:
        make()
    assert "\n" not in str(refused.value)
    assert re.match(r"(.+\.py:\d+: )?Wrong", str(refused.value))


def test_folds_of_truths():
    class Marked(MatrixProgram):
        Node_property = {"marked": (np.bool_, False)}
        Reduce = "max"

        @staticmethod
        def Gather(marked):
            return marked

        @staticmethod
        def Update(y, marked):
            return y or marked

    program = Marked(ARROW)
    program.marked[0] = True
    program.run([0], target="python")
    assert program.marked.tolist() == [True, True, True]
