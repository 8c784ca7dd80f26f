"""What a first run has compiled ahead, by another process and by its own once that is free."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpop.common.standby import compile_crew
from gpop.cpu import filling, follow, loops, preparation
from gpop.cpu.active import drain_frontier, drain_touched, load_frontier
from gpop.cpu.preparation import MANY_EDGES, Preparation
from gpop.cpu.sharing import SERIAL_EDGES
from gpop.cpu.traits import MAYBE, NEVER
from gpop.plan.plan import UNLIMITED


@pytest.fixture
def compiled(monkeypatch):
    """What is done for a run of two threads, in order: kernels that are asked for, and what is done here."""
    done = []
    monkeypatch.setattr(loops, "ask", lambda kind, kernel, *kinds: done.append(kernel))
    monkeypatch.setattr(loops, "help", lambda kind: done.append(f"help with {kind}"))
    monkeypatch.setattr(preparation, "kernel_of_mirrored", lambda *arrays: ("mirrored", ("kind",)))

    def compile_for(all_active, edges=SERIAL_EDGES, pull=NEVER, equals_reverse=None, **others):
        run = SimpleNamespace(
            edges=edges, threads=2, layout=SimpleNamespace(k=2), _state=tuple,
            graph=SimpleNamespace(
                n=8, m=edges, indptr=0, indices=0, weights=None,
                facts=SimpleNamespace(equals_reverse=equals_reverse),
            ),
            traits=SimpleNamespace(all_active=all_active, track=others.get("track", False), pull=pull),
            lowered=SimpleNamespace(functions=others.get("functions", {})),
            plan=SimpleNamespace(limit=others.get("limit", UNLIMITED)), lists=SimpleNamespace(kind=""),
            _make_loop=lambda state: done.append("program"),
        )  # fmt: skip
        run._ask_ahead = lambda kind: Preparation._ask_ahead(run, kind)
        Preparation._compile(run)
        found = done.copy()
        done.clear()
        return found

    return compile_for


def test_all_is_asked_for_before_the_program_is_compiled_and_then_this_process_helps(compiled):
    """What only the next run needs comes last."""
    around = [compile_crew, follow.entry]
    assert compiled(True) == [*around, filling.entry, "program", "help with all_active"]
    assert compiled(False) == [*around, load_frontier, filling.entry, "program", "help with frontier"]
    taken = compiled(False, track=True, limit=3, functions={"priorityFunc": None, "messageFunc": None})
    lists = [load_frontier, drain_touched, drain_frontier]
    assert taken == [*around, *lists, filling.entry, "program", "help with priorities_ranked"]


def test_so_is_what_finds_out_whether_edges_lead_both_ways(compiled):
    """Where it may be asked for and is not known."""
    asked = {"edges": MANY_EDGES, "pull": MAYBE}
    assert "mirrored" in compiled(False, **asked)
    for known in ({"edges": MANY_EDGES - 1}, {"equals_reverse": True}, {"pull": NEVER}):
        assert "mirrored" not in compiled(False, **(asked | known))


def test_one_thread_needs_nothing_that_others_do(compiled):
    assert compiled(True, edges=8) == [filling.entry, "program", "help with all_active"]
    assert compiled(False, edges=8) == [load_frontier, filling.entry, "program", "help with frontier"]
