"""The content key of a program: what changes it, and what does not."""

from __future__ import annotations

from enum import IntEnum
from types import ModuleType

import pytest

from gpop.program import content_key, lowering
from gpop.program.lowering import lower
from tests.programs import program_class

FILE = "the_users_file.py"

SOURCE = """\
import collections
import enum
import types
import numba
import numpy as np
import gpop
FACTOR = 3
LIMITS = (1, 2)
table = np.arange(4)
settings = types.ModuleType("settings"); settings.LEVEL = 1
settings.sizes = (4, 5)
settings.within = types.ModuleType("settings.within"); settings.within.MOST = 1
class Kind(enum.IntEnum):
    COLD = 1
@numba.vectorize
def doubled(x):
    return x + x
def inner(x):
    return x * 2
def helper(x):
    return inner(x) + 1
def closed_over(module):
    def far():
        return module.FAR
    return far
distant = types.ModuleType("distant"); distant.FAR = 1
far = closed_over(distant)
Pair = collections.namedtuple("Pair", "low high")
pair = Pair(np.arange(5000.0), np.float64(1))
records = np.zeros(4, [("first", np.int64), ("second", np.int64)])
def many(x, table=np.arange(3000) * 1.0):
    return x + table[0]
exec("def plain(x):\\n    return x + 1", vars(settings))
@numba.njit("float32(float32)")
def third(x):
    return x / 3
once = inner
rate = 5
class Toy(gpop.Program):
    a = gpop.VertexField(np.int64)
    rate = gpop.Parameter(np.float32)
    def scatterFunc(self, node):
        step = lambda x: x + FACTOR
        more = settings.sizes[0] + settings.within.MOST + Kind.COLD.value + doubled(node) + far()
        more += Pair(1, 2).low + pair.low[3] + records[0].first + many(1) + settings.plain(2) + third(3)
        more += once(node) + self.rate
        return helper(self.a[node]) + FACTOR + LIMITS[1] + table[2] + settings.LEVEL + step(1) + more
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
    "a tuple of a module": ("settings.sizes = (4, 5)", "settings.sizes = (5, 5)"),
    "a constant of a module in a module": ("settings.within.MOST = 1", "settings.within.MOST = 2"),
    "a constant of a module in a closure": ("distant.FAR = 1", "distant.FAR = 2"),
    "a member of an enumeration": ("COLD = 1", "COLD = 2"),
    "a function that Numba vectorizes": ("return x + x", "return x + x + x"),
    "a helper": ("return inner(x) + 1", "return inner(x) - 1"),
    "a helper's helper": ("return x * 2", "return x * 5"),
    "a lambda": ("lambda x: x + FACTOR", "lambda x: x - FACTOR"),
    "the type of a field": ("VertexField(np.int64)", "VertexField(np.int32)"),
    "the type of a parameter": ("Parameter(np.float32)", "Parameter(np.float64)"),
    "all_active": ("    rate", "    all_active = True\n    rate"),
    "inactive_message": ("    rate", "    inactive_message = 3\n    rate"),
    "combine": ("    rate", "    combine = 'max'\n    rate"),
    "the fields of a named tuple": ("low high", "high low"),
    "the middle of an array in a tuple": ("np.arange(5000.0)", "np.arange(5000.0) + 1e-9"),
    "the names of records": (
        '("first", np.int64), ("second", np.int64)',
        '("second", np.int64), ("first", np.int64)',
    ),
    "an array that is a default": ("np.arange(3000) * 1.0", "np.where(np.arange(3000) == 1500, 0, 1.0)"),
    "a plain function of a module": ('return x + 1", vars', 'return x + 2", vars'),
    "a signature": ("float32(float32)", "float64(float64)"),
    "another helper of the same name": ("once = inner", "once = helper"),
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
    "a global that is called as a field": ("rate = 5", "rate = 6"),
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
    cls = program_class(SOURCE, FILE)
    before = lower(cls).key
    cls.scatterFunc.__globals__["FACTOR"] = 30
    after = lower(cls).key
    cls.scatterFunc.__globals__["FACTOR"] = 3
    assert after != before == lower(cls).key


PLAIN = SOURCE.replace(" + LIMITS[1] + table[2]", "").replace("settings.sizes[0] + ", "")
PLAIN = PLAIN.replace(" + pair.low[3] + records[0].first + many(1)", "")
"""All that it refers to is a number, a function or a module."""


def replaced(cls, name):
    """A function that does something else, in place of one of the class."""
    setattr(cls, name, lambda self, value, node: False)


EDITS = {
    "a global number": lambda cls, names: names.update(FACTOR=4),
    "a constant of a module": lambda cls, names: setattr(names["settings"], "LEVEL", 7),
    "a constant of a module in a module": lambda cls, names: setattr(names["settings"].within, "MOST", 7),
    "a module in a module": lambda cls, names: setattr(names["settings"], "within", ModuleType("other")),
    "a constant of a module in a closure": lambda cls, names: setattr(names["distant"], "FAR", 7),
    "an enumeration": lambda cls, names: names.update(Kind=IntEnum("Kind", {"COLD": 7})),
    "a helper": lambda cls, names: names.update(helper=lambda x: x),
    "a helper's helper": lambda cls, names: names.update(inner=lambda x: x),
    "the code of a helper": lambda cls, names: setattr(names["inner"], "__code__", (lambda x: x).__code__),
    "a function": lambda cls, names: replaced(cls, "gatherFunc"),
    "all_active": lambda cls, names: setattr(cls, "all_active", True),
    "combine": lambda cls, names: setattr(cls, "combine", "min"),
    "the name": lambda cls, names: setattr(cls, "__name__", "Other"),
    "cuda_source": lambda cls, names: setattr(cls, "cuda_source", "// nothing"),
    "inactive_message": lambda cls, names: setattr(cls, "inactive_message", 9),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_a_class_that_is_known_is_noticed(edit, monkeypatch):
    """Nothing is hashed while all parts are the same objects; each part is one that is looked at."""
    hashed = []
    monkeypatch.setattr(
        lowering, "content_key", lambda *given: hashed.append(1) or content_key.content_key(*given)
    )
    cls = program_class(PLAIN, FILE)
    before = lower(cls)
    assert lower(cls) is before and len(hashed) == 1
    EDITS[edit](cls, cls.scatterFunc.__globals__)
    assert lower(cls).key != before.key
    assert len(hashed) == 2


def test_what_can_change_in_place_is_hashed_again():
    cls = program_class(SOURCE, FILE)
    before = lower(cls)
    assert lower(cls) is before
    cls.scatterFunc.__globals__["table"][2] = 77
    assert lower(cls).key != before.key
