"""A pytest plugin: several processes that run the same tests take them from one pile, one at a time.

Whoever is through takes the next one, so that all end together; those that take longest go first. The pile is
a folder, ``GPOP_PILE``: ``all`` (the names, in the order in which they are taken), ``taken`` (how many are),
and ``done``, a line for each that has ended: outcome, seconds, name. Nothing is taken any more
``GPOP_PILE_SECONDS`` after a process began. ``perf/gpu_check.sh`` starts them and reads what is there then.
"""

from __future__ import annotations

import fcntl
import os
import random
import time
from pathlib import Path

import pytest

LONG = (
    "test_every_app_in_steps",
    "test_compare_on_both_targets",
    "test_sums_at_a_hub",
    "test_more_vertices_than_16_bits",
    "test_interleaving_reaches_the_same_fixpoint",
    "test_random_trees_are_followed",
    "test_everything_in_one_run",
    "test_gpu_ranks",
    "test_foreign_program",
    "test_sssp",
    "test_heavy_vertices",
)
"""Parts of names of tests that compile or run the most."""

BEGAN = time.monotonic()


class Pile:
    """The tests that nobody has taken yet."""

    def __init__(self, folder: Path, items: list[pytest.Item]) -> None:
        self.folder, self.items = folder, items
        self.ends = BEGAN + float(os.environ.get("GPOP_PILE_SECONDS", "inf"))

    def take(self) -> pytest.Item | None:
        """The next one, if there is one and time for it."""
        if time.monotonic() > self.ends:
            return None
        with (self.folder / "taken").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            number = int(file.read() or 0)
            if number >= len(self.items):
                return None
            file.truncate(0)
            file.write(str(number + 1))
        return self.items[number]


def in_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """The same in every process: long ones, then all others at random.

    At random, so that tests that want the same kernel seldom run at one time: all but the first find it.
    """
    mixed = sorted(items, key=lambda item: item.nodeid)
    random.Random(1).shuffle(mixed)
    return sorted(mixed, key=lambda item: not any(part in item.nodeid for part in LONG))


def name_of(nodeid: str) -> str:
    """As it is called in the repository, wherever pytest's settings lie."""
    return nodeid[max(0, nodeid.find("tests/")) :]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = in_order(items)


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In place of pytest's own, which runs all."""
    if session.config.option.collectonly or session.testsfailed:
        return None
    pile = Pile(Path(os.environ["GPOP_PILE"]), session.items)
    (pile.folder / f"all.{os.getpid()}").write_text("".join(f"{name_of(i.nodeid)}\n" for i in session.items))
    os.replace(pile.folder / f"all.{os.getpid()}", pile.folder / "all")
    item = pile.take()
    while item is not None:
        following = pile.take()  # fixtures that it wants, too, stay
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    began, before = time.monotonic(), item.session.testsfailed
    item.stash[OUTCOME] = "passed"
    done = yield
    outcome = "failed" if item.session.testsfailed > before else item.stash[OUTCOME]
    with (Path(os.environ["GPOP_PILE"]) / "done").open("a") as file:  # one short line: written as a whole
        file.write(f"{outcome} {time.monotonic() - began:.1f} {name_of(item.nodeid)}\n")
    return done


OUTCOME = pytest.StashKey[str]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.skipped:
        item.stash[OUTCOME] = "skipped"
    return report
