"""A pytest plugin: several processes that run the same tests take them from one pile, a few at a time.

Whoever is through takes the next ones, so that all end together. Those of one function stand together, up to
`TOGETHER`: a process that has run one of them has its kernels, programs and graphs for the others, and no two
compile the same at the same time. Functions that take longest go first. The pile is a folder, ``GPOP_PILE``:
``all`` (the names, in the order in which they are taken), ``taken`` (how many batches are), and ``done``, a
line for each test that has ended: outcome, seconds, name. Nothing is taken any more ``GPOP_PILE_SECONDS``
after a process began. ``perf/gpu_check.sh`` starts the processes and reads what is there then.
"""

from __future__ import annotations

import fcntl
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LONG = (
    "test_everything_in_one_run",
    "test_every_app_in_steps",
    "test_compare_on_both_targets",
    "test_sums_at_a_hub",
    "test_more_vertices_than_16_bits",
    "test_interleaving_reaches_the_same_fixpoint",
    "test_random_trees_are_followed",
    "test_distances_and_labels",
    "test_steps_give_what_the_loop_gives",
    "test_on_a_device",
    "test_type",
    "test_gpu_ranks",
    "test_device_levels",
    "test_pagerank_nibble",
    "test_small_device_arrays_and_callbacks",
    "test_foreign_program",
    "test_sssp",
    "test_heavy_vertices",
)
"""Parts of names of tests that compile or run the most."""

TOGETHER = 6
"""Tests of a batch."""

BEGAN = time.monotonic()


class Pile:
    """The batches that nobody has taken yet."""

    def __init__(self, folder: Path, items: list[pytest.Item]) -> None:
        self.folder, self.batches = folder, batches_of(items)
        self.ends = BEGAN + float(os.environ.get("GPOP_PILE_SECONDS", "inf"))

    def __iter__(self) -> Iterator[pytest.Item]:
        """Tests, as long as there are some and there is time for them."""
        while (number := self._take()) < len(self.batches):
            for item in self.batches[number]:
                if time.monotonic() > self.ends:
                    return
                yield item

    def _take(self) -> int:
        """The number of the next batch."""
        with (self.folder / "taken").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            number = int(file.read() or 0)
            file.truncate(0)
            file.write(str(number + 1))
        return number


def batches_of(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """The same in every process: long ones, then all others at random."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=lambda item: item.nodeid):
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    batches = [
        tests[first : first + TOGETHER]
        for tests in functions.values()
        for first in range(0, len(tests), TOGETHER)
    ]
    random.Random(1).shuffle(batches)
    return sorted(batches, key=lambda batch: not any(part in batch[0].nodeid for part in LONG))


def name_of(nodeid: str) -> str:
    """As it is called in the repository, wherever pytest's settings lie."""
    return nodeid[max(0, nodeid.find("tests/")) :]


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """In place of pytest's own, which runs all."""
    if session.config.option.collectonly or session.testsfailed:
        return None
    pile = Pile(Path(os.environ["GPOP_PILE"]), session.items)
    names = [f"{name_of(item.nodeid)}\n" for batch in pile.batches for item in batch]
    own = pile.folder / f"all.{os.getpid()}"
    own.write_text("".join(names))
    own.replace(pile.folder / "all")
    taken = iter(pile)
    item = next(taken, None)
    while item is not None:
        following = next(taken, None)  # fixtures that it wants, too, stay
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
