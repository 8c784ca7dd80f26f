"""The ownership rule with the user's file and line, signatures, and what lowering finds in a program."""

from __future__ import annotations

import functools
import gc
import itertools
import pickle
import textwrap
import types
import weakref

import numba
import numpy as np
import pytest

import gpop
from gpop.program import lowering
from gpop.program.content_key import helpers_of
from gpop.program.lowering import lower, watched_of
from tests.programs import program_class

FILE = "the_users_file.py"

HEADER = """\
import math
import random
import time
import numba
import numpy as np
import gpop
from numpy.random import rand
show, generator = print, np.random.default_rng(1)
table = np.arange(5)
def helper(x):
    return x + 1
def refuses(x):
    if x > 3:
        raise ValueError("no")
    return x
class Toy(gpop.Program):
    a = gpop.VertexField(np.int64)
    b = gpop.VertexField(np.int64)
    rate = gpop.Parameter(np.float32)
"""

FUNCTIONS = {
    "scatterFunc": ["def scatterFunc(self, node):", "    return self.a[node]"],
    "gatherFunc": ["def gatherFunc(self, value, node):", "    return True"],
}


def toy(*functions: str, extra: str = "") -> tuple[type, int]:
    """Toy with these functions, the missing ones added; and the line of the text marked by ``# here``."""
    written = [textwrap.dedent(each).strip().splitlines() for each in functions]
    names = {lines[0].split()[1].split("(")[0] for lines in written}
    missing = [lines for name, lines in FUNCTIONS.items() if name not in names]
    lines = [f"    {line}" for line in itertools.chain(extra.splitlines(), *written, *missing)]
    text = HEADER + "\n".join(lines) + "\n"
    marked = [i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    return program_class(text, FILE), marked[0] if marked else 0


def gather(*lines: str) -> str:
    return "def gatherFunc(self, value, node):\n" + "\n".join(f"    {line}" for line in lines)


def scatter(*lines: str) -> str:
    return "def scatterFunc(self, node):\n" + "\n".join(f"    {line}" for line in lines)


BREACHES = {
    "write to another node": (
        gather("self.a[node + 1] = 0  # here", "return True"),
        r"self\.a\[\.\.\.\]: only \[node\] is owned by this call",
    ),
    "write to node 0": (gather("self.a[0] = 0  # here", "return True"), r"only \[node\] is owned"),
    "add to another node": (gather("self.a[value] += 1  # here", "return True"), r"only \[node\] is owned"),
    "write to a slice": (gather("self.a[:] = 0  # here", "return True"), r"self\.a"),
    "read at another node": (
        gather("x = 0", "x += self.b[node - 1]  # here", "return x > 0"),
        r"self\.b\[\.\.\.\]: only \[node\] is owned",
    ),
    "read at the value": (gather("return self.b[value] > 0  # here"), r"self\.b\[\.\.\.\]: only \[node\]"),
    "degree of another node": (
        scatter("return self.out_degree[node + 1]  # here"),
        r"self\.out_degree\[\.\.\.\]: only \[node\]",
    ),
    "node changed": (gather("node = node + 1", "self.a[node] = 0  # here", "return True"), "only"),
    "field under another name": (
        gather("array = self.a", "array[node + 1] = 0  # here", "return True"),
        "only",
    ),
    "one field or the other": (
        gather("array = self.a", "if value > 3:", "    array = self.b", "return array[node + 1] > 0"),
        "self",
    ),
    "write in scatterFunc": (
        scatter("self.a[node] = 0  # here", "return 1"),
        r"writes self\.a: scatterFunc must be pure",
    ),
    "write in needsFunc": (
        "def needsFunc(self, node):\n    self.a[node] = 0  # here\n    return True",
        r"writes self\.a: needsFunc must be pure",
    ),
    "write in applyWeight": (
        "def applyWeight(self, value, weight):\n    self.a[value] = 0  # here\n    return value",
        r"writes self\.a: applyWeight must be pure",
    ),
    "read in applyWeight": (
        "def applyWeight(self, value, weight):\n    return self.a[value] + weight  # here",
        r"reads self\.a: applyWeight sees the value and the weight only",
    ),
    "write to a parameter": (
        gather("self.rate = 1  # here", "return True"),
        r"self\.rate = \.\.\. : store to a field at node",
    ),
    "whole field stored": (gather("self.a = value  # here", "return True"), r"self\.a = \.\.\. "),
    "write to the degrees": (gather("self.out_degree[node] = 1  # here", "return True"), "read-only"),
    "write to a global array": (
        gather("table[node] = 1  # here", "return True"),
        r"only fields may be stored to: self\.field\[node\]",
    ),
    "unknown attribute": (
        scatter("return self.aa[node]  # here"),
        r"self\.aa is no field or parameter of the program \(a, b, iteration, out_degree, rate\)",
    ),
    "method of the program": (scatter("return self.graph  # here"), r"self\.graph is no field or parameter"),
    "whole field passed": (
        scatter("return helper(self.a)[node]  # here"),
        r"self\.a as a whole: use self\.a\[node\]",
    ),
    "length of a field": (scatter("return len(self.a)  # here"), r"self\.a as a whole"),
    "self passed on": (scatter("return helper(self)  # here"), "self may only be used as"),
    "getattr": (scatter("return getattr(self, 'a')[0]  # here"), "self may only be used as"),
    "self in a lambda": (scatter("f = lambda i: self.a[i]", "return f(node + 1)"), "self"),
    "unknown name": (scatter("return nobody + 1  # here"), "name 'nobody' is not defined$"),
    "import inside": (
        gather("import math", "return math.sqrt(value) > 1"),
        r"Numba cannot compile this: Use of unsupported opcode \(IMPORT_NAME\) found$",
    ),
    "no return on a path": (gather("if value > 3:", "    return True"), "returns nothing on this path"),
    "no return at all": (gather("self.a[node] = value"), "returns nothing on this path"),
    "empty return": (gather("if value > 3:", "    return  # here", "return True"), "returns nothing on this"),
    "initFunc without return": ("def initFunc(self, node):\n    self.a[node] = 0", "returns nothing on this"),
    "raise": (gather("if value > 3:", "    raise ValueError('no')  # here", "return True"), "raise"),
    "assert": (gather("assert value > 3  # here", "return True"), "raise|assert"),
    "raise in a helper": (gather("return refuses(value) > 0"), "refuses, which may raise"),
    "a string": (gather("return 'yes'  # here"), "returns 'yes': expected True or False"),
    "a variable that is a string": (gather("x = 'yes'", "return x  # here"), "returns 'yes': expected True"),
    "a fraction": (gather("return 0.5  # here"), r"returns 0\.5: expected True or False"),
    "a tuple": (scatter("return self.a[node], 1  # here"), "returns a tuple: expected one number"),
    "a list": (scatter("return [self.a[node]]  # here"), "returns a list: expected one number"),
    "a message of text": (scatter("return 'hello'  # here"), "returns 'hello': expected one number"),
    "print": (gather("print(value)  # here", "return True"), 'print is not .*: target="python" allows it$'),
    "print under another name": (gather("show(value)  # here", "return True"), "print is not possible"),
    "print in scatterFunc": (scatter("print(node)  # here", "return 1"), "print is not possible"),
    "print in a lambda": (
        gather("f = lambda x: print(x)  # here", "return f(value) is None"), "print is not possible"
    ),
    "input": (gather("return input() == value  # here"), "input is not possible"),
    "breakpoint": (gather("breakpoint()  # here", "return True"), "breakpoint is not possible"),
    "object mode": (
        gather("with numba.objmode():  # here", "    pass", "return True"), "numba.objmode is not possible"
    ),
    "np.random": (gather("return np.random.random() < 0.5  # here"), "np.random.random has a hidden state"),
    "np.random.seed": (gather("np.random.seed(3)  # here", "return True"), "np.random.seed has a hidden"),
    "a function of np.random": (gather("return rand() < 0.5  # here"), "rand has a hidden state"),
    "a generator": (gather("return generator.random() < 0.5  # here"), "generator has a hidden state"),
    "random": (scatter("return random.random()  # here"), r"random\.random has a hidden state"),
    "time": (scatter("x = 1", "return x + time.time()  # here"), r"time\.time has a hidden state"),
}  # fmt: skip


@pytest.mark.parametrize("breach", BREACHES)
def test_breaches_name_file_and_line(breach):
    function, expected = BREACHES[breach]
    cls, line = toy(function)
    with pytest.raises(gpop.ProgramError, match=expected) as caught:
        lower(cls)
    message = str(caught.value)
    name = function.split("(")[0].split()[1]
    place, _, rest = message.partition(": ")
    assert place == f"{FILE}:{line}" if line else place.startswith(f"{FILE}:")
    assert rest.startswith(f"Toy.{name}: ")
    assert "\n" not in message


ALLOWED = {
    "fields": gather("self.a[node] = max(self.b[node], value)", "self.b[node] += 1", "return value > 0"),
    "aliases": gather("array, u = self.a, node", "array[u] = value", "return True"),
    "another name": "def gatherFunc(self, message, v):\n    self.a[v] = message\n    return self.a[v] > 2",
    "everything": scatter(
        "x = helper(self.a[node]) * self.rate", "for i in range(3):", "    x += math.sqrt(i) + table[i]",
        "return x / self.out_degree[node] + self.iteration",
    ),
    "expression": gather("return True if value > 3 else self.a[node] == 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name):
    assert lower(toy(ALLOWED[name])[0]).name == "Toy"


def test_dense_programs_need_not_answer():
    cls, _ = toy(gather("self.a[node] = value"), "def initFunc(self, node):\n    self.a[node] = 0")
    cls.all_active = True
    assert "initFunc" in lower(cls).functions
    cls, _ = toy("def filterFunc(self, node):\n    self.a[node] = 0", extra="all_active = True")
    with pytest.raises(gpop.ProgramError, match=r"Toy\.filterFunc: returns nothing"):
        lower(cls)


SIGNATURES = [
    ("def scatterFunc(self):\n    return 1", r"\(self\): expected \(self, node\)"),
    ("def scatterFunc(self, node, more):\n    return 1", r"\(self, node, more\): expected \(self, node\)"),
    ("def gatherFunc(self, node):\n    return True", r"\(self, node\): expected \(self, value, node\)"),
    ("def gatherFunc(self, *all):\n    return True", r"expected \(self, value, node\)"),
    ("def gatherFunc(self, value, node, *, x=1):\n    return True", r"expected \(self, value, node\)"),
    ("def applyWeight(self, value):\n    return value", r"expected \(self, value, weight\)"),
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


def test_what_is_no_function_has_at_least_a_file():
    members = {"scatterFunc": lambda self, node: 1, "gatherFunc": 7, "__module__": __name__}
    with pytest.raises(gpop.ProgramError, match=rf"^{__file__}: Odd\.gatherFunc: found int, expected a"):
        lower(type("Odd", (gpop.Program,), members))


def test_effects_of_helpers_are_found_on_their_own_lines():
    text = (
        HEADER.replace("    return x + 1\n", "    return x + deeper(x)\n")
        + """\
    def scatterFunc(self, node):
        return helper(self.a[node])
    def gatherFunc(self, value, node):
        return True
"""
    )
    before = "@numba.njit\ndef deeper(x):\n    return x + np.random.random()\n"
    text = text.replace("def helper", before + "def helper")
    line = text.splitlines().index("    return x + np.random.random()") + 1
    with pytest.raises(
        gpop.ProgramError, match="calls deeper: np.random.random has a hidden state"
    ) as caught:
        lower(program_class(text, FILE))
    assert str(caught.value).startswith(f"{FILE}:{line}: Toy.scatterFunc: ")


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
