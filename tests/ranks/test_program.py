"""Programs as a rank runs them, without MPI: wrapped functions, hidden messages, what every rank can tell."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.plan.hidden import MASK_SENT, MASK_VALUE
from gpop.plan.plan import decide
from gpop.program.lowering import lower
from gpop.program.values import Fields
from gpop.ranks import program
from gpop.ranks.program import hidden_on_ranks, is_told, ranked, tell_messages
from tests import programs


def test_wrapped_functions_get_global_ids():
    functions = ranked(lower(programs.Parents), False).functions
    state = SimpleNamespace(
        parent=np.full(40, programs.NOWHERE, np.uint32), level=np.zeros(40, np.int32), iteration=4,
        gpop_message=np.array([77, 78], np.uint32), gpop_shift=30, gpop_first=1, gpop_last=3,
    )  # fmt: skip
    assert functions["messageFunc"](state, 1) == 31
    assert functions["scatterFunc"](state, 0) == functions["mirrorFunc"](state, 0) == 77
    assert functions["scatterFunc"](state, 1) == 78  # as all ranks can tell
    untold, state.label = ranked(lower(programs.Smallest), False).functions, np.arange(40)
    assert untold["scatterFunc"](state, 1) == untold["messageFunc"](state, 1) == 31
    assert untold["scatterFunc"](state, 0) == 77
    everywhere = ranked(lower(programs.Parents), True).functions
    assert everywhere["scatterFunc"](state, 30) == everywhere["mirrorFunc"](state, 30) == 30  # its id
    assert functions["gatherFunc"](state, 5, 2) is True
    assert state.parent[32] == 5
    functions["filterFunc"](state, 2)
    assert state.level[32] == 5


@pytest.mark.parametrize(
    ("program", "mask", "value"),
    [
        (programs.Smallest, MASK_VALUE, 2**32 - 1),  # harmless, but mirrors are stale
        (programs.Distance, MASK_SENT, None),  # harmless, and no fold
        (programs.Parents, MASK_VALUE, programs.NOWHERE),  # as declared
        (programs.Rumours, MASK_SENT, None),
    ],
)
def test_stale_messages_are_hidden(program, mask, value):
    graph = gpop.Graph.from_edges([0, 1], [1, 0], np.ones(2, np.uint32))
    hidden = hidden_on_ranks(decide(program(graph)))
    assert (hidden.mask, hidden.value) == (mask, value)


def test_what_every_rank_can_tell():
    assert is_told(lower(programs.Parents))
    assert not is_told(lower(programs.Smallest))
    assert not is_told(lower(programs.Formula))  # of the iteration


def test_messages_that_every_rank_can_tell_are_told_once():
    part = SimpleNamespace(
        first=2, last=4, shift=8, mirrors=np.array([0]), names=np.array([3], np.uint32), kept={}
    )
    messages = np.zeros(5, np.uint32)
    fields = {"gpop_message": messages, "out_degree": np.zeros(12, np.uint32)}
    local = SimpleNamespace(_fields=Fields(fields, {}), _parameters={})
    tell_messages(lower(programs.Parents), local, part)
    assert messages.tolist() == [3, 0, 10, 11, 0]
    messages[:] = 7
    tell_messages(lower(programs.Parents), local, part)
    assert messages.tolist() == [7] * 5  # as the last run left them
    tell_messages(lower(programs.Parents)._replace(key="another"), local, part)
    assert messages.tolist() == [3, 7, 10, 11, 7]


def test_messages_that_an_interrupt_left_unfinished_are_told_again(monkeypatch):
    def interrupted(places, names, message, state):
        message[places[0]] = names[0]
        raise KeyboardInterrupt

    part = SimpleNamespace(
        first=0, last=2, shift=0, mirrors=np.array([3]), names=np.array([9], np.uint32), kept={}
    )
    messages, parents = np.zeros(4, np.uint32), lower(programs.Parents)
    fields = {"gpop_message": messages, "out_degree": np.zeros(12, np.uint32)}
    local = SimpleNamespace(_fields=Fields(fields, {}), _parameters={})
    tell_messages(parents, local, part)
    with monkeypatch.context() as patch:
        patch.setitem(program._tellers, "another", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tell_messages(parents._replace(key="another"), local, part)
    messages[:] = 7
    tell_messages(parents, local, part)  # nobody knows whose they are
    assert messages.tolist() == [0, 1, 7, 9]
    messages[:] = 7
    tell_messages(parents._replace(key="another"), local, part)
    assert messages.tolist() == [0, 1, 7, 9]
