"""``--checkpoint`` and ``--checkpoint-every`` of an app, and the `gpop.Checkpoint` that they make."""

from __future__ import annotations

import argparse

import gpop
from gpop.common.errors import UsageError

CHECKPOINT_OPTIONS = ("checkpoint", "checkpoint_every")


def add_checkpoint_options(parser: argparse.ArgumentParser) -> None:
    """The two options, after which ``rounds`` need not be given."""
    parser.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="leave there what the run needs to go on, and go on from what is there (one round)",
    )
    parser.add_argument(
        "--checkpoint-every", type=_often, metavar="N|Ns", help="iterations, or seconds (default: 60s)"
    )


def checkpoint_of(given: argparse.Namespace) -> gpop.Checkpoint | None:
    """The checkpoint that is asked for; it allows one round, which is the default then.

    Raises
    ------
    UsageError
        For more rounds, or how often without where.
    """
    if given.checkpoint is None:
        if given.checkpoint_every is not None:
            raise UsageError("--checkpoint-every needs --checkpoint DIR")
        return None
    if given.rounds not in (None, 1):
        raise UsageError("--checkpoint is for one run: expected --rounds 1, or none")
    given.rounds = 1
    return gpop.Checkpoint(given.checkpoint, **(given.checkpoint_every or {}))


def _often(text: str) -> dict[str, float]:
    """How often, as `gpop.Checkpoint` takes it.

    Examples
    --------
    >>> _often("5"), _often("2.5s")
    ({'iterations': 5}, {'seconds': 2.5})
    """
    number = text.removesuffix("s")
    try:
        found = {"seconds": float(number)} if number != text else {"iterations": int(number)}
    except ValueError:
        found = {}
    if not all(0 < value < float("inf") for value in found.values() or [0]):
        raise argparse.ArgumentTypeError(f"{text!r}: expected iterations, such as 5, or seconds, such as 30s")
    return found
