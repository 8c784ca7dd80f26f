"""Every place to type a program: files, modules, standard input, a prompt, the cells of a notebook."""

from __future__ import annotations

import itertools
import linecache
import os
import subprocess
import sys

import pytest

import gpop
from tests.quick import quick

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


WAYS = ["script", "module", "imported", "-c", "exec", "stdin", "prompt"]


@pytest.mark.parametrize("way", quick(WAYS, "prompt"))
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


@pytest.mark.slow
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
