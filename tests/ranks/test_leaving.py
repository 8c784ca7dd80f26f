"""What a process ends by is told in the end; what somebody catches is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEGIN = """
import sys, threading
from gpop.ranks.leaving import say_when_left
say_when_left(lambda *told: print(*told))
def leave(code):
    try:
        sys.exit(code)
    finally:
        list(range(9))
"""
CAUGHT = """
def catch():
    try:
        leave(5)
    except SystemExit as error:
        return error.code
assert catch() == 5
try:
    leave(6)
except SystemExit:
    pass
thread = threading.Thread(target=leave, args=[7])
thread.start()
thread.join()
"""


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("sys.exit(3)", "sys.exit(3) 3"),
        ("leave('no such file')", "sys.exit('no such file') 1"),
        (f"{CAUGHT}with open(sys.executable):\n    leave(4)", "sys.exit(4) 4"),
        (CAUGHT, ""),
        (f"{CAUGHT}sys.exit()", ""),
    ],
)
def test_a_process_that_leaves_says_so(ending, told):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + ending], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.strip() == told
    assert done.returncode == int(told[-1] if told else 0)
