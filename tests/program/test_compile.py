"""What only the compiler sees in a program: one line with the user's file and line."""

from __future__ import annotations

import traceback
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.program.lowering import lower
from gpop.program.types import types_of

EDGE = gpop.Graph.from_edges([0], [1], [1])


def word(value):
    return "yes" if value > 2 else "no"


def pair(value):
    return value, 1


class Echo(gpop.Program):
    a = gpop.VertexField(np.int64)

    def scatterFunc(self, node):
        return self.a[node]

    def gatherFunc(self, value, node):
        return True


def refusal(name, function, **more):
    """What is said about `Echo` with this function, once its place is checked."""
    kind = type("Wrong", (Echo,), {name: function, **more})
    with pytest.raises(gpop.ProgramError) as caught:
        gpop.run(kind(EDGE), iterations=1)
    message = str(caught.value)
    place = f"{__file__}:{function.__code__.co_firstlineno}: Wrong.{name} "
    assert message.startswith(place) and "\n" not in message
    return message.removeprefix(place), caught.value


def test_errors_of_the_compiler_are_one_line():
    def scatterFunc(self, node):
        return self.a[node].nothing

    message, error = refusal("scatterFunc", scatterFunc)
    assert message.startswith("does not compile: Unknown attribute 'nothing' of type int64")
    assert str(scatterFunc.__code__.co_firstlineno + 1) in message
    shown = "".join(traceback.format_exception(error))
    assert "numba/core" not in shown and "TypingError" not in shown  # as a notebook shows it
    assert "Failed in" in error.detail and "scatterFunc" in error.detail


@pytest.mark.parametrize(
    "function, call",
    [
        (lambda self, node: np.zeros(self.a[node] + 0.5), "zeros(float64)"),
        (
            lambda self, node: np.where(self.a[node] > 1, 2, 0),
            "where(bool, Literal[int](2), Literal[int](0))",
        ),
        (lambda self, node: self.a[node] + "a", "add(int64, Literal[str](a))"),
    ],
)
def test_a_call_that_there_is_none_of_is_said_with_its_types(function, call):
    """And the last place is named, which is the user's; the first may be inside Numba."""
    message, _ = refusal("scatterFunc", function)
    assert f"found for signature: {call} " in message
    assert message.rstrip(":").endswith(f'{Path(__file__).name}", line {function.__code__.co_firstlineno}')


def nameless(x):
    return nobody_knows(x)  # noqa: F821


def through(x):
    return nameless(x) + 1


def lacking(x):
    return np.nothing(x)


def empty(x):
    return np.zeros(x + 0.5)


@pytest.mark.parametrize(
    "helper, reason",
    [
        (nameless, "in nameless: NameError: name 'nobody_knows' is not defined "),
        (through, "in nameless: NameError: name 'nobody_knows' is not defined "),
        (lacking, "module 'numpy' has no attribute 'nothing'"),
        (empty, "in empty: No implementation of function Function(<built-in function zeros>) found for "),
    ],
)
def test_what_is_wrong_in_a_helper(helper, reason):
    """Numba says that there is no helper for these types; why is further below."""
    message, _ = refusal("scatterFunc", lambda self, node: helper(self.a[node]))
    assert message.startswith(f"does not compile: {reason}")


def test_whole_numbers_become_no_fractions():
    """Of uint64 and a signed type Numba makes a float64: bits of a set of 64 would be lost."""

    def scatterFunc(self, node):
        return self.seen[node] if node > 4 else 0

    def changed(self, node):
        seen = self.seen[node]
        if node > 4:
            seen = seen + 1
        return seen

    def right(self, node):
        return self.seen[node] if node > 4 else np.uint64(0)

    members = {"seen": gpop.VertexField(np.uint64)}
    for function in (scatterFunc, changed):
        kind = type("Wrong", (Echo,), {"scatterFunc": function, **members})
        with pytest.raises(
            gpop.ProgramError, match=r"Wrong\.scatterFunc: a number is now a uint64, now a signed"
        ):
            gpop.run(kind(EDGE), iterations=1)
    kind = type("Right", (Echo,), {"scatterFunc": right, **members})
    assert types_of(kind, lower(kind), None).message == np.uint64


def test_messages_are_numbers():
    message, _ = refusal("scatterFunc", lambda self, node: pair(self.a[node]))
    assert message == "returns more than a number: expected one number"


@pytest.mark.parametrize(
    "name, function",
    [
        ("gatherFunc", lambda self, value, node: word(value)),
        ("gatherFunc", lambda self, value, node: value * 0.5),
        ("initFunc", lambda self, node: pair(self.a[node])),
        ("filterFunc", lambda self, node: self.a[node] / 2),
        ("needsFunc", lambda self, node: word(self.a[node])),
    ],
)
def test_answers_are_true_or_false(name, function):
    for _ in range(2):  # the second time from the cache
        message, _ = refusal(name, function)
        assert message == "returns neither True nor False: expected one of them"


def test_a_weight_may_decide_what_the_answer_is():
    kind = {"applyWeight": lambda self, value, weight: value * 0.5 * weight}
    message, _ = refusal("gatherFunc", lambda self, value, node: value, **kind)
    assert message == "returns neither True nor False: expected one of them"


@pytest.mark.slow  # tests/cpu/test_semantics.py has them in some modes
def test_whole_numbers_are_answers():
    program = type("Right", (Echo,), {"gatherFunc": lambda self, value, node: value})(EDGE)
    program.a = 3
    assert gpop.run(program, [0], iterations=1).frontier.tolist() == [1]


def test_dense_programs_answer_where_they_like():
    def gatherFunc(self, value, node):
        if value > 0:
            self.a[node] += value
            return True

    program = type("Dense", (Echo,), {"gatherFunc": gatherFunc, "all_active": True})(EDGE)
    program.a = 3
    gpop.run(program, iterations=1)
    assert program.a.tolist() == [3, 6]


class Hashed(gpop.Program):
    """Bits of 32 from whatever a vertex hears, as the guide says that they are written."""

    bits = gpop.VertexField(np.uint32)
    cast = gpop.VertexField(np.uint64)

    def scatterFunc(self, node):
        return (node + 0xFFFFFFF0) * 2654435761

    def applyWeight(self, value, weight):
        return ((value & 0xFFFFFFFF) * 4294967291 + weight) & 0xFFFFFFFF

    def gatherFunc(self, value, node):
        self.bits[node] = value ^ (value >> 15)
        return True


class Cast(Hashed):
    def filterFunc(self, node):
        self.cast[node] = np.uint32(self.bits[node] | 0x80000000) * np.uint32(0x80000001)
        return True


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_whole_numbers_wrap_around_alike_and_unsaid(target):
    """Products are beyond 2**63; NumPy would warn of it, and warnings are errors here."""
    program = Hashed(EDGE)
    gpop.run(program, [0], iterations=1, target=target)
    expected = ((0xFFFFFFF0 * 2654435761 % 2**32) * 4294967291 + 1) % 2**32
    assert program.bits[1] == expected ^ (expected >> 15)


def test_a_cast_does_not_cut_what_follows():
    program = Cast(EDGE)
    gpop.run(program, [0], iterations=1)
    assert program.cast[1] == (int(program.bits[1]) | 0x80000000) * 0x80000001 > 2**32
