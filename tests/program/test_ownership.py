"""The ownership rule: what breaks it is refused with the user's file and line, and what does not is taken."""

from __future__ import annotations

import pytest

import gpop
from gpop.program.lowering import lower
from tests.program.toy import FILE, HEADER, gather, scatter, toy
from tests.programs import program_class

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


def test_a_helper_that_calls_itself_is_refused():
    text = (
        HEADER.replace("    return x + 1\n", "    return x if x < 1 else other(x - 1)\n")
        + """\
    def scatterFunc(self, node):
        return helper(self.a[node])
    def gatherFunc(self, value, node):
        return True
"""
    )
    text = text.replace("class Toy", "def other(x):\n    return helper(x)\nclass Toy")
    with pytest.raises(
        gpop.ProgramError, match=r"Toy.scatterFunc: calls \w+, which calls itself: expected a loop"
    ):
        lower(program_class(text, FILE))
