"""Signatures, and what lowering finds in a program; the ownership rule is in test_ownership.py."""

from __future__ import annotations

import functools
import gc
import pickle
import types
import weakref

import numba
import numpy as np
import pytest

import gpop
from gpop.program import lowering
from gpop.program.lowering import lower, watched_of
from gpop.program.references import helpers_of
from tests.program.toy import FILE, gather, scatter, toy

SIGNATURES = [
    ("def scatterFunc(self):\n    return 1", r"\(self\): expected \(self, node\)"),
    ("def scatterFunc(self, node, more):\n    return 1", r"\(self, node, more\): expected \(self, node\)"),
    ("def gatherFunc(self, node):\n    return True", r"\(self, node\): expected \(self, value, node\)"),
    ("def gatherFunc(self, *all):\n    return True", r"expected \(self, value, node\)"),
    ("def gatherFunc(self, value, node, *, x=1):\n    return True", r"expected \(self, value, node\)"),
    ("def applyWeight(self, value):\n    return value", r"expected \(self, value, weight\)"),
    ("def applyWeight(self, weight, value):\n    return 2 * value", r"expected \(self, value, weight\)"),
    ("def gatherFunc(self, node, value):\n    return True", r"expected \(self, value, node\)"),
]


@pytest.mark.parametrize("function, expected", SIGNATURES)
def test_signatures(function, expected):
    cls, _ = toy(function)
    with pytest.raises(gpop.ProgramError, match=rf"^{FILE}:20: Toy\.\w+\(?.*{expected}$"):
        lower(cls)


@pytest.mark.parametrize("missing", ["scatterFunc", "gatherFunc"])
def test_a_program_defines_scatter_and_gather(missing):
    class Toy(gpop.Program):
        def scatterFunc(self, node):
            return 1

        def gatherFunc(self, value, node):
            return True

    delattr(Toy, missing)
    with pytest.raises(gpop.ProgramError, match=f"^Toy has no {missing}: every program defines scatterFunc"):
        lower(Toy)


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize(
    "kind, found",
    [
        (classmethod, "method"),
        (functools.partial, "partial"),
        (numba.njit, r"a compiled function \(gpop compiles it itself\)"),
    ],
)
def test_functions_are_plain_methods(kind, found, target):
    cls, line = toy(gather("return True").replace(":", ":  # here", 1))
    cls.gatherFunc = kind(cls.gatherFunc)
    expected = rf"found {found}, expected a plain method: def gatherFunc\(self, value, node\)$"
    with pytest.raises(gpop.ProgramError, match=f"^{FILE}:{line}: Toy.gatherFunc: {expected}"):
        gpop.run(cls(gpop.Graph.from_edges([0], [1])), target=target)


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("base", ["super()", "super(Toy, self)"])
def test_functions_of_a_base_are_not_called(base, target):
    cls, line = toy(gather(f"return {base}.gatherFunc(value, node)").replace(":", ":  # here", 1))
    with pytest.raises(
        gpop.ProgramError, match=rf"^{FILE}:{line}: Toy.gatherFunc calls super\(\): expected "
    ):
        gpop.run(cls(gpop.Graph.from_edges([0], [1])), target=target)


def test_what_is_no_function_has_at_least_a_file():
    members = {"scatterFunc": lambda self, node: 1, "gatherFunc": 7, "__module__": __name__}
    with pytest.raises(gpop.ProgramError, match=rf"^{__file__}: Odd\.gatherFunc: found int, expected a"):
        lower(type("Odd", (gpop.Program,), members))


def test_what_is_collected():
    cls, _ = toy(
        scatter("return helper(self.b[node]) * self.out_degree[node]"),
        "def filterFunc(self, node):\n    return self.iteration < 4",
    )
    lowered = lower(cls)
    assert set(lowered.functions) == {"scatterFunc", "gatherFunc", "filterFunc"}
    assert (lowered.fields, lowered.parameters) == (("b",), ())
    assert set(lowered.built_in) == {"out_degree", "iteration"}
    assert [helper.__name__ for helper in helpers_of(cls.scatterFunc)] == ["helper"]
    assert lower(cls) is lowered


def test_lowering_needs_no_module_of_origin():
    """A class made by ``type`` in no importable module."""
    cls = types.new_class(
        "Made", (gpop.Program,), exec_body=lambda ns: ns.update(
            a=gpop.VertexField(np.int64), scatterFunc=lambda self, node: self.a[node],
            gatherFunc=lambda self, value, node: value > 3, __module__=None,
        ),
    )  # fmt: skip
    assert lower(cls).name == "Made"


@pytest.mark.parametrize(
    "written, steady",
    [
        ("", True),
        ("def initFunc(self, node):\n    self.b[node] = 1\n    return False", True),
        ("def initFunc(self, node):\n    self.a[node] = 1\n    return False", False),
        ("def gatherFunc(self, value, node):\n    self.a[node] += value\n    return True", False),
        ("def filterFunc(self, node):\n    self.a[node] = self.iteration\n    return True", False),
    ],
)
def test_steady_means_that_nobody_writes_what_is_sent(written, steady):
    assert lower(toy(*[written] if written else [])[0]).steady is steady


@pytest.mark.parametrize(
    ("body", "activates"),
    [
        ("return True", True),
        ("self.a[node] = value\n    return 1 > 0", False),
        ("return False", False),
        ("if value > 3:\n        self.b[node] = value\n        return True\n    return True", True),
        ("if value > 3:\n        return True\n    return False", False),
        ("return value", False),
    ],
)
def test_whether_every_message_activates(body, activates):
    kind, _ = toy(f"def gatherFunc(self, value, node):\n    {body}")
    assert lower(kind).activates is activates


def test_what_a_check_has_found_is_kept_for_the_next_process(tmp_path, monkeypatch):
    """An edit is another program, which is checked; what breaks a rule is refused every time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    checked = []
    run = lowering.OwnershipCheck.run
    monkeypatch.setattr(lowering.OwnershipCheck, "run", lambda self: checked.append(self.name) or run(self))

    def lowered_anew(factor: int):
        class Scaled(gpop.Program):
            value = gpop.VertexField(np.int64)
            share = gpop.Parameter(np.int64, 2)

            def scatterFunc(self, node):
                return self.value[node] * factor

            def gatherFunc(self, value, node):
                self.value[node] += value * self.share
                return True

        return lowering.lower(Scaled)

    first = lowered_anew(2)
    assert checked == ["scatterFunc", "gatherFunc"]
    again = lowered_anew(2)
    assert len(checked) == 2
    assert again._replace(functions=None) == first._replace(functions=None)
    assert (again.fields, again.parameters, again.activates) == (("value",), ("share",), True)
    lowered_anew(3)
    assert len(checked) == 4

    class Silent(gpop.Program):
        def scatterFunc(self, node):
            return 1

        def gatherFunc(self, value, node):
            value += 1

    for _ in range(2):
        with pytest.raises(gpop.ProgramError):
            lowering.lower(Silent)


def test_a_class_that_its_functions_refer_to_goes_when_nobody_has_it():
    """As a script that is run in a namespace of its own, again and again, with its graphs in it."""
    scope = {"gpop": gpop}
    exec(
        "class Own(gpop.Program):\n"
        "    def scatterFunc(self, node):\n        return node\n"
        "    def gatherFunc(self, value, node):\n        return True\n",
        scope,
    )
    own = weakref.ref(scope["Own"])
    assert set(lower(own()).functions) == {"scatterFunc", "gatherFunc"} and watched_of(own()) is not None
    del scope
    gc.collect()
    assert own() is None


def test_what_is_known_of_a_class_does_not_travel():
    """A class of a notebook is pickled by what is in it; all that its functions refer to would be there."""

    class Sent(gpop.Program):
        def scatterFunc(self, node):
            return node

        def gatherFunc(self, value, node):
            return True

    lower(Sent)
    known = vars(Sent)["_lowered"]
    assert known.lowered is not None and known.watched is not None
    Sent._lowered = again = pickle.loads(pickle.dumps(known))
    assert again.lowered is None and again.watched is None
    assert lower(Sent).key == known.lowered.key


def test_what_is_known_of_a_class_is_not_that_of_its_base():
    class Base(gpop.Program):
        def scatterFunc(self, node):
            return node

        def gatherFunc(self, value, node):
            return True

    class Derived(Base):
        def gatherFunc(self, value, node):
            return False

    assert lower(Base).activates and not lower(Derived).activates and lower(Base).activates
