"""What only the compiler sees in a program: one line with the user's file and line."""

from __future__ import annotations

import numpy as np
import pytest

import gpop


def test_errors_of_the_compiler_are_one_line():
    class Wrong(gpop.Program):
        a = gpop.VertexField(np.int64)

        def scatterFunc(self, node):
            return self.a[node].nothing

        def gatherFunc(self, value, node):
            return True

    line = Wrong.scatterFunc.__code__.co_firstlineno + 1
    place = r"test_compile\.py:\d+: Wrong\.scatterFunc does not compile"
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
