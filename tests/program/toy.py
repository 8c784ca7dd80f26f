"""Programs for tests of what is checked, written as texts in a file of their own: its lines are known."""

from __future__ import annotations

import itertools
import textwrap

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
