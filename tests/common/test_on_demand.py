"""Values that are made when somebody looks: once, whoever looks, and also when it is interrupted."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import gpop
from gpop.common.on_demand import OnDemand, WithDemands
from gpop.program.recipes import Declared
from gpop.program.values import Fields


@dataclass(frozen=True)
class Answer(WithDemands):
    number: int


def test_threads_that_look_at_once_have_it_made_once():
    made = []

    def slowly():
        made.append(1)
        time.sleep(0.05)
        return len(made)

    answer = Answer(OnDemand(slowly))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: answer.number, range(4))) == [1] * 4
    assert len(made) == 1


def test_an_interrupt_waits_until_it_is_there():
    """Ranks are made in place of what they are made of: twice would be something else."""
    made = []

    def interrupted():
        made.append(1)
        signal.raise_signal(signal.SIGINT)
        return len(made)

    answer = Answer(OnDemand(interrupted))
    with pytest.raises(KeyboardInterrupt):
        answer.number  # noqa: B018
    assert answer.number == 1 and made == [1]


@pytest.mark.slow
def test_editors_see_what_nobody_has_looked_at():
    run = gpop.pagerank(gpop.Graph.from_edges([0], [1]), iterations=1)
    assert {"rank", "iterations", "top"} <= set(dir(run))
    assert "rank" not in vars(run)


def test_a_field_that_another_thread_makes_meanwhile():
    fields = Fields({}, {"level": Declared(2, np.dtype(np.int32), -1)})

    class Made(dict):
        def get(self, name):
            found = super().get(name)
            if found is None:
                self[name] = fields.recipes.pop(name).on_host()
            return found

    fields.made = Made()
    assert fields["level"].tolist() == [-1, -1]
