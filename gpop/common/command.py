"""What command lines share: errors in one line on stderr, and exit codes.

0, 2 for bad input, 130 after Ctrl-C. A reader of our output that goes away (``| head``) is no error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from gpop.common.errors import GpopError, UsageError


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def exit_code(work: Callable[[], int | None]) -> int:
    """Do the work; print its error, if any, and return the exit code (the work's own, if it has one)."""
    code = 0
    try:
        code = work() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        return fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except GpopError as error:
        return fail(str(error), 2)
    except MemoryError as error:
        return fail(f"not enough memory: {error}", 2)
    return code


def fail(message: str, code: int) -> int:
    """Print one line; return the exit code."""
    print("gpop:", " ".join(message.split()), file=sys.stderr)
    return code
