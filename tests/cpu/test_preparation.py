"""What a first run has compiled by whom, so that nobody waits for what could be compiled meanwhile."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpop.common.standby import compile_crew
from gpop.cpu import follow, loops, preparation
from gpop.cpu.preparation import MANY_EDGES, Preparation
from gpop.cpu.sharing import SERIAL_EDGES
from gpop.cpu.traits import MAYBE, NEVER
from gpop.plan.plan import UNLIMITED


@pytest.fixture
def compiled(monkeypatch):
    """Compiles for a run of two threads: what the other process was asked for, and what was done here."""
    asked, here = [], []
    monkeypatch.setattr(loops, "ask", lambda kind, kernel, *kinds: asked.append((kind, kernel)))
    monkeypatch.setattr(follow, "entry", lambda: here.append("follow"))
    monkeypatch.setattr(preparation, "kernel_of_mirrored", lambda *arrays: ("mirrored", ("kind",)))
    monkeypatch.setattr(preparation, "entry_of", lambda kernel, *kinds: here.append(kernel))

    def compile_for(all_active, edges=SERIAL_EDGES, under_way=True, pull=NEVER, equals_reverse=None):
        monkeypatch.setattr(loops, "is_under_way", lambda kind: under_way)
        run = SimpleNamespace(
            edges=edges, threads=2, layout=SimpleNamespace(k=2), _state=tuple,
            graph=SimpleNamespace(
                n=8, m=edges, indptr=0, indices=0, weights=None,
                facts=SimpleNamespace(equals_reverse=equals_reverse),
            ),
            traits=SimpleNamespace(all_active=all_active, track=False, pull=pull),
            lowered=SimpleNamespace(functions={}), plan=SimpleNamespace(limit=UNLIMITED),
            lists=SimpleNamespace(kind=""),
            _make_loop=lambda state: here.append("program"),
        )  # fmt: skip
        run._ask_ahead = lambda kind: Preparation._ask_ahead(run, kind)
        run._compile_meanwhile = lambda: Preparation._compile_meanwhile(run)
        Preparation._compile(run)
        found = asked.copy(), here.copy()
        asked.clear(), here.clear()
        return found

    return compile_for


def test_where_all_are_active_the_other_process_compiles_all_that_threads_need(compiled):
    """Its loop takes less time than the program."""
    asked, here = compiled(all_active=True)
    assert asked == [("all_active", compile_crew), ("all_active", follow.entry)]
    assert here == ["program"]


def test_else_half_of_it_is_compiled_here_while_the_other_one_is_at_the_loop(compiled):
    asked, here = compiled(all_active=False)
    assert ("frontier", compile_crew) in asked and ("frontier", follow.entry) not in asked
    assert here == ["program", "follow"]
    assert compiled(all_active=False, under_way=False)[1] == ["program"]  # and by nobody before it is needed


def test_so_is_what_finds_out_whether_edges_lead_both_ways(compiled):
    """Where it may be asked for and is not known."""
    assert compiled(all_active=False, edges=MANY_EDGES, pull=MAYBE)[1] == ["program", "follow", "mirrored"]
    for known in ({"edges": MANY_EDGES - 1}, {"equals_reverse": True}, {"pull": NEVER}):
        assert "mirrored" not in compiled(False, **({"edges": MANY_EDGES, "pull": MAYBE} | known))[1]


def test_one_thread_needs_none_of_it(compiled):
    assert compiled(all_active=True, edges=8) == ([], ["program"])
    asked, here = compiled(all_active=False, edges=8)
    assert ("frontier", compile_crew) not in asked and here == ["program"]
