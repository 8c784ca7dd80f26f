"""Fields that the loop's threads fill: right for every type, however few vertices and many threads."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import gpop
from gpop.apps.pagerank_programs import PageRank
from gpop.apps.prototype import Prototype
from gpop.common.arrays import unset
from gpop.common.foreign import call_c
from gpop.cpu import beginning, filling, team
from gpop.cpu.again import MANY, RestingEngine
from gpop.cpu.beginning import Beginning
from gpop.cpu.control import open_control
from gpop.cpu.shares import share_evenly
from gpop.program.fields import DTYPES
from gpop.program.recipes import ONE, WIDTH, Declared, Scaled, Unset
from gpop.program.values import Fields
from tests.cpu.controls import control_with
from tests.quick import quick

GUARD = 3


@numba.njit
def part(w, threads, pieces, control, entry):
    if pieces > 0:
        share_evenly(pieces, threads, open_control(control))
    call_c(entry, (w, threads, control))


def guarded(n: int, dtype: np.dtype) -> np.ndarray:
    """Ones, and a few more in front and behind."""
    return np.ones(n + 2 * GUARD, dtype)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("n", [1, 2, 13, filling.PIECE, 3 * filling.PIECE + 5])
def test_every_type_is_filled_and_nothing_beside_it(n, threads):
    """By the last thread alone, the others come when all is done."""
    fields, arrays, expected, steps = Fields({}, {}), {}, {}, []
    for dtype in DTYPES:
        value, other = (
            (True, False) if dtype.kind == "b" else (dtype.type(-3.5 if dtype.kind == "f" else 77), 5)
        )
        arrays[dtype] = guarded(n, dtype)
        expected[dtype] = arrays[dtype].copy()
        inside = slice(GUARD, GUARD + n)
        recipe = Declared(n, dtype, value, {0: other, n - 1: other})
        expected[dtype][inside] = recipe.on_host()
        steps += recipe.steps(arrays[dtype][inside].ctypes.data)
    for dtype in (np.dtype(np.float32), np.dtype(np.float64)):
        of = fields[dtype.name] = np.random.default_rng(1).random(n).astype(dtype)
        name = dtype.name + " scaled"
        arrays[name] = guarded(n, dtype)
        expected[name] = arrays[name].copy()
        expected[name][inside] = of * dtype.type(1 / 3)
        steps += Scaled(fields, dtype.name, 1 / 3).steps(arrays[name][inside].ctypes.data)
    steps += Unset(n, np.dtype(np.int32)).steps(0)
    table = np.array([*filling.head_of(steps, n), *steps])
    shares, claim = (
        np.zeros(team.SHARES + 2 * threads, np.int64),
        np.zeros(team.LINE_SLOTS * threads, np.int64),
    )
    control = control_with(team=shares, claim=claim, filling=table)
    part(threads - 1, threads, -(-n // filling.PIECE), control.address, table[filling.ENTRY])
    for name, array in arrays.items():
        assert np.array_equal(array, expected[name]), name
        array[:] = 0
    for w in range(threads - 1):
        part(w, threads, 0, control.address, table[filling.ENTRY])
    assert not any(array.any() for array in arrays.values())


def test_bytes_are_those_of_whole_fields():
    steps = Declared(9, np.dtype(np.int16), 4, {2: 1}).steps(1 << 62) + Declared(9, np.dtype("f8"), 0).steps(
        8
    )
    assert [steps[at] for at in range(0, len(steps), WIDTH)].count(ONE) == 1
    assert filling.head_of(steps, 9) == (3, 9 * (2 + 8), 9, filling.entry())
    assert filling.head_of([], 9) == (0, 0, 9, 0)


class Mixed(gpop.Program):
    """A field of every kind, which nobody writes but the engine: they are what they were filled with."""

    flag = gpop.VertexField(np.bool_, True)
    small = gpop.VertexField(np.int8, -7)
    fraction = gpop.VertexField(np.float64, 0.1)
    found = gpop.VertexField(np.float32, np.inf)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return np.float32(self.flag[node]) + np.float32(self.small[node]) * np.float32(self.fraction[node])

    def initFunc(self, node):
        self.found[node] = 0
        return True

    def gatherFunc(self, value, node):
        self.found[node] += value
        return True


def ring(n: int) -> gpop.Graph:
    """Each vertex and the next one, both ways."""
    v = np.arange(n)
    return gpop.Graph.from_edges(v, (v + 1) % n).symmetrize() if n else gpop.Graph.from_edges([], [], n=0)


def wheel(n: int) -> gpop.Graph:
    """The same with a hub: ranks depend on the damping."""
    v = np.arange(1, n)
    return gpop.Graph.from_edges([*v, *v], [*(v % (n - 1) + 1), *(0 * v)]).symmetrize()


@pytest.fixture
def again(monkeypatch):
    """How many runs were done by an engine that rested."""
    done, run = [], RestingEngine.again

    def counted(*given):
        left = run(*given)
        done.append(left)
        return left

    monkeypatch.setattr(RestingEngine, "again", counted)
    return done


def mixed(graph: gpop.Graph, threads: int) -> list[np.ndarray]:
    program = Mixed(graph)
    gpop.run(program, iterations=2, threads=threads)
    return [program.flag, program.small, program.fraction, program.found]


CALLS = {
    "mixed": mixed,
    "pagerank": lambda graph, threads: [gpop.pagerank(graph, iterations=2, threads=threads).rank],
    "converging": lambda graph, threads: [gpop.pagerank(graph, threads=threads).rank],
    "bfs": lambda graph, threads: _tree(graph, threads=threads),
    "one level": lambda graph, threads: _tree(graph, threads=threads, iterations=1),
    "no level": lambda graph, threads: _tree(graph, threads=threads, iterations=0),
}
SEARCHES = [CALLS[name] for name in ("bfs", "one level", "no level")]


def _tree(graph: gpop.Graph, **options) -> list[np.ndarray]:
    found = gpop.bfs(graph, graph.n // 2, method="messages", **options)
    return [found.parent, found.level]


@pytest.mark.parametrize("threads", quick([1, 2, 5], 2))
@pytest.mark.parametrize("n", quick([0, 1, 5, MANY, 1 << 18], 0, 5, 1 << 18))
def test_a_run_like_the_last_one_begins_as_that_did(n, threads, again):
    """Few vertices, and so many that threads share them; what was given out before stays as it is."""
    graph = ring(n)
    for name, call in CALLS.items():
        if (n == 0 and call in SEARCHES) or (n > 5 and name == "bfs"):
            continue  # no source; thousands of levels
        first = call(graph, threads)
        copies = [array.copy() for array in first]
        np.full(4 * n + 1, 9, np.int64)  # what is left behind in memory
        later = [call(graph, threads) for _ in range(2)]
        for arrays in (first, *later):
            assert all(map(np.array_equal, arrays, copies)), name
    assert not n or len([left for left in again if left is not None]) >= 4


@pytest.mark.parametrize("step", ["iterate", "_renewed"])  # the loop; before fields are told of
def test_a_run_that_ends_before_it_begins_leaves_fields_as_declared(step, monkeypatch, again):
    graph = ring(MANY)
    for _ in range(2):
        mixed(graph, 2)
    program = Mixed(graph)
    monkeypatch.setattr(RestingEngine, step, lambda run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gpop.run(program, iterations=2, threads=2)
    monkeypatch.undo()
    assert program.flag.all() and (program.small == -7).all() and np.isposinf(program.found).all()
    assert gpop.run(program, iterations=2, threads=2).iterations == 2
    assert np.array_equal(program.found, mixed(graph, 2)[-1])


def test_more_steps_than_there_is_room_for_are_done_on_the_host(again):
    graph = ring(500)
    seeds = list(range(0, 500, 5))
    first = [gpop.personalized_pagerank(graph, seeds, iterations=3).rank.copy() for _ in range(3)]
    assert np.array_equal(first[0], first[1]) and np.array_equal(first[0], first[2])
    fields = Fields({}, {"x": Declared(500, np.dtype(np.int32), 1, dict.fromkeys(seeds, 2))})
    taken: dict = {}
    steps = fields.unfilled(["x"], taken)
    assert len(steps) > filling.SLOTS and "x" in fields.made
    fields.undo(taken)
    assert fields["x"].sum() == 500 + len(seeds)


def test_programs_of_a_prototype_begin_by_their_addresses_and_others_do_not(monkeypatch):
    graph, begun, begin = wheel(50), [], Beginning.begin
    monkeypatch.setattr(Beginning, "begin", lambda *given: (begun.append(1), begin(*given))[1])
    expected = {damping: gpop.pagerank(wheel(50), damping, iterations=3).rank for damping in (0.5, 0.85)}
    results = [(0.5, gpop.pagerank(graph, 0.5, iterations=3).rank) for _ in range(4)]
    assert len(begun) == 2  # the first prepares, the second finds how they begin
    for damping in (0.85, 0.85, 0.5, 0.85, 0.5, 0.5):
        results.append((damping, gpop.pagerank(graph, damping, iterations=3).rank))
    assert all(np.array_equal(rank, expected[damping]) for damping, rank in results)
    assert len({rank.ctypes.data for _, rank in results}) == len(results)


@pytest.mark.parametrize("look", [lambda p: p.share, lambda p: setattr(p, "base", p.base * 2)])
def test_a_program_that_somebody_has_looked_at_or_set_is_none_of_them(look):
    graph = wheel(50)
    program = PageRank(graph)
    program._fields["per_edge"] = np.full(graph.n, 0.5, np.float32)
    program._fields.recipes["share"] = Scaled(program._fields, "per_edge", 1 / graph.n)
    program.base = 0.15 / graph.n
    of, found = Prototype(program, 3, {"threads": 2}), []
    for turn in range(6):
        seen = None
        if turn in (0, 4):
            seen = look(program := of.program(graph))
            share = of.run_of(program, None, lambda ran: ran.field("share"))
        else:
            share = of.run(lambda ran: ran.field("share"), graph)
        found.append(share)
        assert seen is None or seen is share
    assert np.array_equal(found[0], found[4]) and np.array_equal(found[1], found[5])
    assert np.array_equal(found[1], found[3])


def test_runs_of_other_kinds_by_the_same_loop_may_come_between():
    graph = wheel(50)
    expected = gpop.pagerank(wheel(50), iterations=3).rank
    for _ in range(3):
        ranks = [gpop.pagerank(graph, iterations=3).rank for _ in range(3)]
        seen = gpop.pagerank(graph, 0.5, iterations=3, callback=lambda record: None).rank
        kept = seen.copy()
        ranks.append(gpop.pagerank(graph, iterations=3).rank)
        assert all(np.array_equal(rank, expected) for rank in ranks) and np.array_equal(seen, kept)


def test_what_nobody_has_any_more_is_the_memory_of_a_later_result(monkeypatch):
    graph, expected = wheel(50), gpop.pagerank(wheel(50), iterations=3).rank.copy()
    places = [gpop.pagerank(graph, iterations=3).rank.ctypes.data for _ in range(6)]
    assert len({*places[3:]}) == 1

    def address():
        return gpop.pagerank(graph, iterations=3).rank.ctypes.data

    for seen in (lambda rank: rank, lambda rank: rank[7:9], lambda rank: rank.reshape(5, -1).T,
                 lambda rank: memoryview(rank), lambda rank: rank.base, lambda rank: iter(rank)):  # fmt: skip
        result = gpop.pagerank(graph, iterations=3)
        place, has = result.rank.ctypes.data, seen(result.rank)
        before = bytes(has) if isinstance(has, memoryview) else None
        del result
        assert place not in [address() for _ in range(4)]
        assert before is None or bytes(has) == before
        del has
        two = [gpop.pagerank(graph, iterations=3) for _ in range(2)]
        assert place in [result.rank.ctypes.data for result in two]
        del two
    made = []
    monkeypatch.setattr(beginning, "unset", lambda *given: made.append(given) or unset(*given))
    for _ in range(6):  # as in a loop that sets a variable: it has the last result while the next is made
        last = gpop.pagerank(graph, iterations=3)
        assert np.array_equal(last.rank, expected) and not made


def test_scratch_is_that_of_the_last_run_and_a_result_is_not():
    graph, expected = wheel(50), gpop.pagerank(wheel(50), tolerance=1e-3).rank
    ranks = [gpop.pagerank(graph, tolerance=1e-3).rank for _ in range(5)]
    assert all(np.array_equal(rank, expected) for rank in ranks)
    assert len({rank.ctypes.data for rank in ranks}) == len(ranks)
    of = Prototype(Mixed(graph), 2, {"threads": 1}, ("small", "fraction"))
    names = "small", "fraction", "flag", "found"
    made = [of.run(lambda ran: [*map(ran.field, names)], graph) for _ in range(4)]
    fields = [dict(zip(names, arrays, strict=True)) for arrays in made]
    for name, same in (("small", True), ("fraction", True), ("flag", False), ("found", False)):
        one, other = (fields[i][name] for i in (2, 3))
        assert (one is other) == same, name
        assert np.array_equal(one, fields[0][name]), name


@pytest.mark.parametrize("stop", [False, True])
def test_the_counts_of_a_run_of_all_vertices_are_left_clean(stop, again):
    """Of one that comes to its end, and of one that is stopped."""
    graph = ring(300)
    for _ in range(3):
        gpop.run(Mixed(graph), iterations=5, threads=2, callback=(lambda record: True) if stop else None)
    spaces = [entry.value for entry in graph.store._entries.values()]
    sizes = [space.last[1].frontier_size for space in spaces if hasattr(space, "last")]
    assert sizes and not any(size.any() for size in sizes)
