"""What command lines share: errors in one line on stderr, and exit codes.

0, 2 for bad input, 130 after Ctrl-C. A reader of our output that goes away (``| head``) is no error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from gpop.errors import GpopError, UsageError


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def exit_code(work: Callable[[], None]) -> int:
    """Do the work; print its error, if any, and return the exit code."""
    try:
        work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except GpopError as error:
        return _fail(str(error), 2)
    except MemoryError as error:
        return _fail(f"not enough memory: {error}", 2)
    return 0


def _fail(message: str, code: int) -> int:
    print("gpop:", " ".join(message.split()), file=sys.stderr)
    return code
