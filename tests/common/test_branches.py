"""Branches are kept off the borders of lines where a processor minds, and nowhere else."""

from __future__ import annotations

import platform
import subprocess
import sys

import llvmlite.binding
import pytest

from gpop.common import branches

COMPILE = """
import hashlib
import sys
import numba
if sys.argv[1:]:
    from gpop.common.branches import keep_branches_within_lines
    assert keep_branches_within_lines(sys.argv[1]) and keep_branches_within_lines(sys.argv[1])

@numba.njit
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

assert collatz(27) == 111
library = collatz.overloads[collatz.signatures[0]].library
print(hashlib.sha256(library._get_compiled_object()).hexdigest())
"""


def test_affected_processors_are_told(monkeypatch):
    told = []
    monkeypatch.setattr(llvmlite.binding, "set_option", lambda name, option: told.append(option))
    assert branches.keep_branches_within_lines("cascadelake")
    assert told == [branches.OPTION]
    assert not branches.keep_branches_within_lines("znver3")
    monkeypatch.setattr(branches, "IS_TESTED", False)
    assert not branches.keep_branches_within_lines("cascadelake")
    assert len(told) == 1


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="an option of x86")
def test_code_is_padded_and_right():
    def compiled(*processor: str) -> str:
        words = [sys.executable, "-W", "error", "-c", COMPILE, *processor]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    plain = compiled()
    assert plain == compiled() != compiled("skylake")
