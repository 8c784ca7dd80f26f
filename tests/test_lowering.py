"""The ownership rule with the user's file and line, the content key, and every place to type a program."""

from __future__ import annotations

import itertools
import linecache
import os
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import gpop
from gpop.lowering import helpers_of, lower

FILE = "the_users_file.py"

HEADER = """\
import math
import numpy as np
import gpop
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


def program_class(text: str, file: str = FILE, **globals_) -> type:
    """The class ``Toy`` of a source text."""
    namespace = {"__name__": "toy", **globals_}
    exec(compile(text, file, "exec"), namespace)
    return namespace["Toy"]


def toy(*functions: str, extra: str = "") -> tuple[type, int]:
    """Toy with these functions, the missing ones added; and the line of the text marked by ``# here``."""
    written = [textwrap.dedent(each).strip().splitlines() for each in functions]
    names = {lines[0].split()[1].split("(")[0] for lines in written}
    missing = [lines for name, lines in FUNCTIONS.items() if name not in names]
    lines = [f"    {line}" for line in itertools.chain(extra.splitlines(), *written, *missing)]
    text = HEADER + "\n".join(lines) + "\n"
    marked = [i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    return program_class(text), marked[0] if marked else 0


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
    "no return on a path": (gather("if value > 3:", "    return True"), "returns nothing on this path"),
    "no return at all": (gather("self.a[node] = value"), "returns nothing on this path"),
    "empty return": (gather("if value > 3:", "    return  # here", "return True"), "returns nothing on this"),
    "initFunc without return": ("def initFunc(self, node):\n    self.a[node] = 0", "returns nothing on this"),
    "raise": (gather("if value > 3:", "    raise ValueError('no')  # here", "return True"), "raise"),
    "assert": (gather("assert value > 3  # here", "return True"), "raise|assert"),
    "raise in a helper": (gather("return refuses(value) > 0"), "refuses, which may raise"),
}


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
    with pytest.raises(gpop.ProgramError, match=rf"^{FILE}:15: Toy\.\w+\(?.*{expected}$"):
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


@pytest.mark.parametrize("kind", [classmethod, lambda f: f.__code__])
def test_functions_are_plain_methods(kind):
    cls, _ = toy()
    cls.gatherFunc = kind(cls.gatherFunc)
    with pytest.raises(gpop.ProgramError):
        lower(cls)


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


# --- the content key ---------------------------------------------------------------------------

SOURCE = """\
import types
import numpy as np
import gpop
FACTOR = 3
LIMITS = (1, 2)
table = np.arange(4)
settings = types.ModuleType("settings"); settings.LEVEL = 1
def inner(x):
    return x * 2
def helper(x):
    return inner(x) + 1
class Toy(gpop.Program):
    a = gpop.VertexField(np.int64)
    rate = gpop.Parameter(np.float32)
    def scatterFunc(self, node):
        step = lambda x: x + FACTOR
        return helper(self.a[node]) + FACTOR + LIMITS[1] + table[2] + settings.LEVEL + step(1)
    def gatherFunc(self, value, node):
        if value > 10:
            self.a[node] = value
            return True
        return False
"""


def key(text: str = SOURCE, file: str = FILE) -> str:
    return lower(program_class(text, file)).key


CHANGES = {
    "a function": ("value > 10", "value < 10"),
    "a constant": ("value > 10", "value > 11"),
    "the type of a constant": ("value > 10", "value > 10.0"),
    "a global number": ("FACTOR = 3", "FACTOR = 4"),
    "the type of a global": ("FACTOR = 3", "FACTOR = 3.0"),
    "a global tuple": ("LIMITS = (1, 2)", "LIMITS = (1, 3)"),
    "a global array": ("np.arange(4)", "np.arange(1, 5)"),
    "a constant of a module": ("settings.LEVEL = 1", "settings.LEVEL = 2"),
    "a helper": ("return inner(x) + 1", "return inner(x) - 1"),
    "a helper's helper": ("return x * 2", "return x * 5"),
    "a lambda": ("lambda x: x + FACTOR", "lambda x: x - FACTOR"),
    "the type of a field": ("VertexField(np.int64)", "VertexField(np.int32)"),
    "the type of a parameter": ("Parameter(np.float32)", "Parameter(np.float64)"),
    "all_active": ("    rate", "    all_active = True\n    rate"),
    "inactive_message": ("    rate", "    inactive_message = 3\n    rate"),
    "combine": ("    rate", "    combine = 'max'\n    rate"),
    "a new function": ("    rate", "    def initFunc(self, node):\n        return False\n    rate"),
    "a swap of names": ("self.a[node] = value", "self.a[node] = node"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_changes_with(change):
    old, new = CHANGES[change]
    assert old in SOURCE
    assert key(SOURCE.replace(old, new)) != key()


UNCHANGED = {
    "comments": ("        if value", "        # why\n        if value"),
    "blank lines": ("FACTOR", "\n\n\nFACTOR"),
    "lines elsewhere": ("FACTOR = 3", "OTHER = 3\nFACTOR = 3"),
    "another global": ("LIMITS", "UNUSED = 9\nLIMITS"),
    "the default of a parameter": ("Parameter(np.float32)", "Parameter(np.float32, 4)"),
    "the fill of a field": ("VertexField(np.int64)", "VertexField(np.int64, 4)"),
}


@pytest.mark.parametrize("change", UNCHANGED)
def test_the_key_does_not_change_with(change):
    old, new = UNCHANGED[change]
    assert key(SOURCE.replace(old, new, 1)) == key()


def test_the_key_does_not_depend_on_the_file():
    assert key(file="/elsewhere/other.py") == key()


def test_a_global_that_changes_at_run_time_changes_the_key():
    cls = program_class(SOURCE)
    before = lower(cls).key
    cls.scatterFunc.__globals__["FACTOR"] = 30
    after = lower(cls).key
    cls.scatterFunc.__globals__["FACTOR"] = 3
    assert after != before == lower(cls).key


# --- wherever a program is typed ---------------------------------------------------------------

TYPED = """\
import numpy as np
import gpop

STEP = 2

def double(x):
    return 2 * x

class Reach(gpop.Program):
    hops = gpop.VertexField(np.int32, -1)

    def scatterFunc(self, node):
        return double(self.hops[node]) + STEP

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False

program = Reach(gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=5))
program.hops[0] = 0
run = gpop.run(program, frontier=[0], threads=1)
print(program.hops.tolist(), run.iterations)
"""
ANSWER = "[0, 2, 6, 14, -1] 4"

BREACH = TYPED.replace("self.hops[node] = value", "self.hops[node + 1] = value")


def interactive(text: str) -> str:
    """The text as typed at a prompt: no blank line inside a class, one after it."""
    lines = [line for line in text.splitlines() if line]
    out = []
    for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        out.append(line)
        if line.startswith(" ") and not following.startswith(" "):
            out.append("")
    return "\n".join(out) + "\n"


def ways(text: str, folder) -> dict[str, tuple[list[str], str]]:
    """Name -> (arguments of python, stdin)."""
    (folder / "script.py").write_text(text)
    return {
        "script": (["script.py"], ""),
        "module": (["-m", "script"], ""),
        "imported": (["-c", "import script"], ""),
        "-c": (["-c", text], ""),
        "exec": (["-c", f"exec({text!r})"], ""),
        "stdin": (["-"], text),
        "prompt": (["-i", "-q"], interactive(text)),
    }


@pytest.mark.parametrize("way", ["script", "module", "imported", "-c", "exec", "stdin", "prompt"])
def test_typed_anywhere(way, tmp_path):
    def python(text):
        arguments, stdin = ways(text, tmp_path)[way]
        return subprocess.run(
            [sys.executable, *arguments], input=stdin, text=True, capture_output=True, timeout=300,
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(["", *sys.path])},
        )  # fmt: skip

    assert ANSWER in python(TYPED).stdout
    line = 1 + BREACH.splitlines().index("            self.hops[node + 1] = value")
    error = python(BREACH).stderr
    assert "Reach.gatherFunc: self.hops[...]: only [node] is owned by this call" in error
    if way in ("script", "module", "imported"):
        assert f"script.py:{line}: " in error


def test_notebook_cells():
    """A cell has a name like a file that exists only in linecache; cells redefine classes."""
    number = itertools.count(1)

    def cell(text):
        name = f"<ipython-input-{next(number)}-0123456789ab>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), namespace)

    namespace = {"__name__": "__main__"}
    cell(TYPED)
    assert namespace["program"].hops.tolist() == [0, 2, 6, 14, -1]
    cell("STEP = 3")
    again = "program.hops = [0, -1, -1, -1, -1]; gpop.run(program, frontier=[0], threads=1)"
    cell(again)
    assert namespace["program"].hops.tolist() == [0, 3, 9, 21, -1]
    cell("STEP = 2")
    cell(again)
    assert namespace["program"].hops.tolist() == [0, 2, 6, 14, -1]
    with pytest.raises(gpop.ProgramError, match=r"^<ipython-input-6-0123456789ab>:17: Reach\.gatherFunc: "):
        cell(BREACH)


def test_errors_of_the_compiler_are_one_line():
    """What only the compiler sees is reported with the user's file and line."""

    class Wrong(gpop.Program):
        a = gpop.VertexField(np.int64)

        def scatterFunc(self, node):
            return self.a[node].nothing

        def gatherFunc(self, value, node):
            return True

    line = Wrong.scatterFunc.__code__.co_firstlineno + 1
    place = r"test_lowering\.py:\d+: Wrong\.scatterFunc does not compile"
    with pytest.raises(gpop.ProgramError, match=place) as caught:
        gpop.run(Wrong(gpop.Graph.from_edges([0], [1])))
    assert "Unknown attribute 'nothing' of type int64" in str(caught.value)
    assert str(line) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_messages_are_numbers():
    class Pair(gpop.Program):
        a = gpop.VertexField(np.int64)

        def scatterFunc(self, node):
            return self.a[node], 1

        def gatherFunc(self, value, node):
            return True

    with pytest.raises(gpop.ProgramError, match="^Pair.*number") as caught:
        gpop.run(Pair(gpop.Graph.from_edges([0], [1])))
    assert "\n" not in str(caught.value)


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
