"""What may be asked for in place of a mode: ``auto``, a mode, a strategy by its name, a decision tree.

What may follow a name:

    vertex-push-warp:8-32          lanes of a virtual warp, and vertices that it takes at once
    vertex-push/masked/block       no list of active vertices, or who counts the next frontier, or both
    tree:FILE                      another tree than that of this machine
"""

from __future__ import annotations

from functools import cache

from gpop.common.errors import UsageError
from gpop.model.strategies import MODES, STRATEGIES, TREE, name_of

_BY_NAME = {strategy.name: strategy for strategy in STRATEGIES if strategy.by_name}

ASKED = ("auto", *(mode.name for mode in MODES), *_BY_NAME, TREE)
"""Values of ``mode=`` and ``--mode``; parameters may follow those that have some (`Strategy.parameters`)."""

MASKED, AGGREGATIONS = "masked", ("each", "bulk", "warp", "block")
"""What may follow the name of a strategy, in this order. Masked: every vertex is looked at. The others say
who counts, and lists, the next frontier together: nobody, a thread all that it finds, a warp, a block; else
it is a warp, or a block where many edges are active.
Thesis: Verstraaten, "Analysis and prediction of GPU graph algorithm performance" (2022)."""

WARP, MOST_CHUNK = 32, 1024
"""Most lanes of a virtual warp, and most vertices that it takes at once."""


@cache
def asked_on(target: str) -> tuple[str, ...]:
    """Those that a target has.

    Examples
    --------
    >>> asked_on("cpu")
    ('auto', 'sc', 'pc', 'pull', 'tree')
    """
    targets = {name: strategy.target for name, strategy in _BY_NAME.items()}
    return tuple(asked for asked in ASKED if targets.get(asked, target) == target)


def split(asked: str) -> tuple[str, tuple[int, ...]]:
    """Name and parameters of what is asked for; those of the record where none are given.

    Examples
    --------
    >>> split("vertex-push-warp:8-32"), split("vertex-push-warp"), split("auto")
    (('vertex-push-warp', (8, 32)), ('vertex-push-warp', (16, 64)), ('auto', ()))
    """
    name, given = name_of(asked), asked.partition(":")[2].partition("/")[0]
    if name == TREE:
        return TREE, ()
    if given:
        return name, tuple(int(number) for number in given.split("-"))
    return name, _BY_NAME[name].parameters if name in _BY_NAME else ()


def policies(asked: str) -> tuple[bool, str | None]:
    """Whether it is masked, and which aggregation is asked for.

    Examples
    --------
    >>> policies("vertex-push/masked/block"), policies("edge-list/each"), policies("auto")
    ((True, 'block'), (False, 'each'), (False, None))
    """
    words = [] if name_of(asked) == TREE else asked.split("/")[1:]
    aggregations = [word for word in words if word in AGGREGATIONS]
    return MASKED in words, aggregations[0] if aggregations else None


def _check_policies(what: str, asked: str) -> None:
    """Refuse what follows a name and is none, or in another order."""
    words = asked.split("/")
    masked, aggregation = policies(asked)
    known = [words[0], *[MASKED] * masked, *[aggregation] * (aggregation is not None)]
    if words != known or (len(words) > 1 and name_of(asked) not in _BY_NAME):
        raise UsageError(
            f"{what} {asked!r}: expected a strategy that is taken by name, then /{MASKED} or not, "
            f"then /{', /'.join(AGGREGATIONS)} or none of them"
        )


def check_asked(what: str, asked: str, known: tuple[str, ...] = ASKED) -> None:
    """Refuse a mode that is none, or one that has no such parameters.

    Raises
    ------
    UsageError
        With ``what`` is asked for, and what was expected.

    Examples
    --------
    >>> check_asked("mode", "vertex-pull-warp:32-32")
    >>> check_asked("mode", "vertex-pull-warp:5-32")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gpop.common.errors.UsageError: mode 'vertex-pull-warp:5-32': expected vertex-pull-warp:W-C, W lanes ...
    """
    if isinstance(asked, str) and asked in known:
        return
    name, colon, given = asked.partition(":") if isinstance(asked, str) else (asked, "", "")
    if name == TREE and name in known and given:
        return
    if isinstance(asked, str):
        name, given = (text.partition("/")[0] for text in (name, given))
    if name not in known or (colon and not (name in _BY_NAME and _BY_NAME[name].parameters)):
        raise UsageError(f"{what} {asked!r}: expected one of {', '.join(known)}")
    _check_policies(what, asked)
    if not colon:
        return
    numbers = [int(number) for number in given.split("-") if number.isdecimal()]
    fits = f"{'-'.join(map(str, numbers))}" == given and len(numbers) == 2
    if fits:
        warp, chunk = numbers
        fits = warp in (1, 2, 4, 8, 16, WARP) and 0 < chunk <= MOST_CHUNK and chunk % warp == 0
    if not fits:
        raise UsageError(
            f"{what} {asked!r}: expected {name}:W-C, W lanes (1, 2, 4 ... {WARP}) and C vertices "
            f"(a multiple of W, at most {MOST_CHUNK})"
        )


def code_of(asked: str) -> int:
    """Code of a mode that is asked for; `gpop.model.choosers.AUTO` for auto and tree.

    Examples
    --------
    >>> [code_of(asked) for asked in asked_on("cpu")]
    [-1, 0, 1, 2, -1]
    """
    name, _ = split(asked)
    if name == TREE:
        return -1
    return _BY_NAME[name].mode if name in _BY_NAME else ASKED.index(name) - 1
