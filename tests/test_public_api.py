"""What is public has type hints that resolve, and docstrings whose sections say what the code does.

Public: the names of ``gpop.__all__`` and the public methods of its classes, inherited ones as well. Sections
are numpydoc's; the examples in them run as doctests.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import textwrap
import typing
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path

import networkx
import pandas
import pyarrow
import pytest
import scipy.sparse

import gpop
from gpop.program.functions import ARGUMENTS

FOR_CHECKERS = {"networkx": networkx, "pandas": pandas, "pyarrow": pyarrow, "scipy": scipy}
"""Packages that hints name and that `gpop` imports for type checkers only."""

CLASSES = {name: getattr(gpop, name) for name in gpop.__all__ if inspect.isclass(getattr(gpop, name))}
FUNCTIONS = {
    name: inspect.unwrap(getattr(gpop, name))
    for name in gpop.__all__
    if inspect.isroutine(getattr(gpop, name))
}
METHODS, PROPERTIES = {}, {}
for owner, kind in CLASSES.items():
    own = [base for base in reversed(kind.__mro__) if base.__module__.startswith("gpop.")]
    for name, member in chain.from_iterable(vars(base).items() for base in own):
        if isinstance(member, property) and not name.startswith("_"):
            PROPERTIES[f"{owner}.{name}"] = member.fget
        member = getattr(member, "__func__", member)  # of a class method
        if inspect.isfunction(member) and not name.startswith("_"):
            METHODS[f"{owner}.{name}"] = member
MADE = {
    f"{name}()": kind for name, kind in CLASSES.items() if "__init__" in vars(kind) and not is_dataclass(kind)
}
"""Classes that are called with arguments of their own: what they take is in the docstring of the class."""

CALLED = FUNCTIONS | METHODS
RECORDS = {name: kind for name, kind in CLASSES.items() if is_dataclass(kind)}


def sections(thing) -> dict[str, str]:
    """Name -> text of the sections of a docstring; what comes before them is called Summary."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", "Summary\n---\n" + inspect.getdoc(thing), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def listed(section: str) -> list[str]:
    """Names of the entries ``name, other : type``; an entry without a type or a text is at fault."""
    names = []
    for entry in re.split(r"\n(?=\S)", section.strip()):
        head, _, text = entry.partition("\n")
        name, colon, kind = head.partition(" : ")
        assert colon and kind, f"no type: {head!r}"
        assert text.strip() or kind in ("Graph", "bool"), f"nothing said: {head!r}"
        names += name.split(", ")
    return names


def taken(function) -> list[str]:
    """Parameters as a docstring names them."""
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    parameters = inspect.signature(function).parameters.values()
    return [stars.get(p.kind, "") + p.name for p in parameters if p.name not in ("self", "cls")]


def raised(function, seen: set) -> set[str]:
    """Errors of gpop that leave a function: its own, and of functions that it calls by a global name."""
    function = inspect.unwrap(function)
    seen.add(function)
    found = set()

    def visit(node, caught):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found.update({ast.unparse(node.exc.func)} - caught)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = function.__globals__.get(node.func.id)
            if inspect.isfunction(called) and called.__module__.startswith("gpop") and called not in seen:
                found.update(raised(called, seen) - caught)
        handled = [each.type for each in node.handlers if each.type] if isinstance(node, ast.Try) else []
        names = {each.id for kind in handled for each in ast.walk(kind) if isinstance(each, ast.Name)}
        tried = node.body if names else []
        for child in ast.iter_child_nodes(node):
            visit(child, caught | names if child in tried else caught)

    visit(ast.parse(textwrap.dedent(inspect.getsource(function))), set())
    return found & {"UsageError", "GraphFileError", "ProgramError"}


@pytest.mark.parametrize("name", [*CALLED, *PROPERTIES, *MADE])
def test_hints_resolve(name):
    function = MADE[name].__init__ if name in MADE else (CALLED | PROPERTIES)[name]
    hints = typing.get_type_hints(function, {**function.__globals__, **FOR_CHECKERS})
    expected = {parameter.lstrip("*") for parameter in taken(function)} | {"return"}
    assert hints.keys() == expected


@pytest.mark.parametrize("name", [*CALLED, *MADE])
def test_parameters_are_those_of_the_signature(name):
    documented, function = (MADE[name],) * 2 if name in MADE else (CALLED[name],) * 2
    parameters = taken(getattr(gpop, name) if name in FUNCTIONS else function)  # with what `one_call` adds
    assert listed(sections(documented)["Parameters"]) == parameters if parameters else True


@pytest.mark.parametrize("name", CALLED)
def test_returns(name):
    nothing = typing.get_type_hints(CALLED[name], {**CALLED[name].__globals__, **FOR_CHECKERS})[
        "return"
    ] is type(None)
    assert ("Returns" in sections(CALLED[name])) != nothing


@pytest.mark.parametrize("name", [*CALLED, *MADE])
def test_errors_are_told(name):
    told = sections(MADE.get(name) or CALLED[name]).get("Raises", "")
    function = MADE[name].__init__ if name in MADE else CALLED[name]
    entries = set(re.findall(r"^(\w+)$", told, re.MULTILINE))
    silent = name.partition(".")[2] in ARGUMENTS  # a Program that lacks one says so when it is used
    assert silent or raised(function, set()) <= entries
    assert all(issubclass(getattr(gpop, error), Exception) for error in entries)


@pytest.mark.parametrize("name", [name for name in CALLED if name.partition(".")[2] not in ARGUMENTS])
def test_examples(name):
    assert ">>> " in sections(CALLED[name]).get("Examples", "")


@pytest.mark.parametrize("name", [*PROPERTIES, *CLASSES])
def test_everything_has_a_summary(name):
    assert len(sections(CLASSES.get(name) or PROPERTIES[name])["Summary"].split()) > 2


@pytest.mark.parametrize("name", RECORDS)
def test_attributes_are_the_fields(name):
    names = listed(sections(RECORDS[name])["Attributes"])
    assert sorted(names) == sorted(field.name for field in fields(RECORDS[name]))


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(gpop.__file__).read_text())
    (block,) = (
        node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    static = {alias.asname: node.module for node in block.body for alias in node.names}
    assert static == gpop._HOMES


CLIENT = """\
import numpy as np
import gpop

graph = gpop.load("road.bin", weighted=True)
reveal_type(graph)
reveal_type(gpop.sssp(graph, source=0).distance)
reveal_type(gpop.bfs(graph, 0, mode="pc", reorder="degree").trace.seconds)
reveal_type(gpop.pagerank(graph, iterations=10).converged)

class Walk(gpop.Program):
    steps = gpop.VertexField(np.uint32)

    def scatterFunc(self, node: int) -> int:
        return self.steps[node] + 1

run: gpop.Run = gpop.run(Walk(graph), frontier=[0], iterations=3)
reveal_type(run.iterations)
gpop.load(3)
gpop.run(Walk, iteratoins="many", threads="all")
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_package(tmp_path):
    """mypy, from the installed package alone: kinds of results, and what is wrong about calls."""
    pytest.importorskip("mypy")
    (tmp_path / "client.py").write_text(CLIENT)
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--no-color-output", "client.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = dict.fromkeys(range(1, 20), "")
    for line, text in re.findall(r"^client\.py:(\d+): (.*)$", done.stdout, re.MULTILINE):
        said[int(line)] += text + "\n"
    kinds = {5: "Graph", 6: "ndarray", 7: "float", 8: "bool", 17: "int"}
    for line, kind in kinds.items():
        assert "note: Revealed type" in said[line] and kind in said[line], done.stdout + done.stderr
    assert "arg-type" in said[18] and "arg-type" in said[19]
    assert not any(said[line] for line in said if line not in (*kinds, 18, 19)), done.stdout
