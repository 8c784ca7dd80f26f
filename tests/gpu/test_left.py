"""What a run leaves on a device until somebody looks at it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gpop
from gpop.apps.bfs import BFS
from gpop.common import private_pages
from gpop.gpu import device, exchange, left
from gpop.program.recipes import Declared
from gpop.program.values import last_run
from tests.gpu.emulator import emulated
from tests.gpu.foreign import FOREIGN
from tests.programs import Smallest, random_graph
from tests.quick import quick


@pytest.fixture
def graph(monkeypatch):
    """A graph whose fields do not travel with the block of small ones."""
    monkeypatch.setattr(exchange, "SMALL", 0)
    return random_graph(5, 300, 1500, weights=True)


@pytest.fixture
def moved(monkeypatch):
    """Bytes sent and fetched, in this order of both."""
    found = {"send": [], "fetch": []}
    for name in found:
        real = getattr(left.staging, name)

        def watched(one, other, name=name, real=real):
            found[name].append(one.nbytes)
            real(one, other)

        monkeypatch.setattr(left.staging, name, watched)
    return found


def test_fields_are_made_on_the_device_and_come_when_they_are_looked_at(graph, moved):
    expected = gpop.bfs(graph, 3, method="messages")
    with emulated():
        found = gpop.bfs(graph, 3, target="gpu", mode="sc", ratio=1.0)
        assert moved == {"send": [], "fetch": []}
        assert np.array_equal(found.level, expected.level)
        assert moved == {"send": [], "fetch": [4 * graph.n]}
        assert found.level is found.level
        assert np.array_equal(found.parent >= 0, expected.parent >= 0)
        assert len(moved["fetch"]) == 2


@pytest.mark.parametrize("app", quick(["pagerank", "sssp", "connected_components"], "sssp"))
def test_results_of_every_kind(app, graph, moved):
    of_all = {"pagerank": {"iterations": 3, "ratio": 1.0}, "sssp": {"source": 3, "ratio": 1.0}}
    options, field = of_all.get(app, {}), {"pagerank": "rank", "sssp": "distance"}.get(app, "label")
    expected = getattr(getattr(gpop, app)(graph, **options), field)
    with emulated():
        for turn in range(2):
            found = getattr(gpop, app)(graph, target="gpu", **options)
            sent = len(moved["send"])
            assert sent == (app == "pagerank"), turn  # what an edge is given: once for all runs
            values = getattr(found, field)
            assert np.allclose(values, expected, rtol=1e-6)


def test_an_array_that_was_handed_out_stays_the_field(graph, moved):
    program = Smallest(graph)
    label = program.label
    label[:] = np.arange(graph.n)[::-1]
    with emulated():
        gpop.run(program, target="gpu", mode="sc", ratio=1.0)
    assert len(moved["send"]) == len(moved["fetch"]) == 1
    expected = Smallest(graph)
    expected.label = np.arange(graph.n)[::-1]
    gpop.run(expected)
    assert program.label is label and np.array_equal(label, expected.label)


@pytest.fixture
def private(monkeypatch):
    """Fields of new programs lie in pages of which it is told which are written, as behind a run on a GPU."""
    if not private_pages._told():
        pytest.skip("needs Linux 6.7, which tells of written pages")
    monkeypatch.setattr(private_pages, "LEAST", 1)
    monkeypatch.setattr(last_run, "on_device", True)
    yield
    private_pages.let_go()


def levels_from(graph, source, hold=lambda array: None):
    """Program and result of a search that a user has begun, and what ``hold`` makes of the field before."""
    program = BFS(graph)
    program.parent[source], program.level[source] = source, 0
    held = hold(program.level)
    gpop.run(program, [source], target="gpu", mode="sc", ratio=1.0)
    return program, held


def test_of_fields_with_few_vertices_set_no_array_travels(graph, moved, private):
    expected = {source: gpop.bfs(graph, source).level for source in (3, 7)}
    last_run.on_device = True
    with emulated():
        for source in (3, 7, 3):
            program, _ = levels_from(graph, source)
            assert moved["send"] == []
            assert np.array_equal(program.level, expected[source])
            assert (program.parent[source], program.parent.dtype) == (source, np.uint32)


HOLDS = {"array": lambda array: array, "view": lambda array: array[5:9], "memory": memoryview,
         "asarray": lambda array: np.asarray(array).view(np.uint32)}  # fmt: skip


@pytest.mark.parametrize("hold", HOLDS)
def test_an_array_that_somebody_has_is_worked_in_wherever_it_lies(hold, graph, moved, private):
    with emulated():
        program, held = levels_from(graph, 3, HOLDS[hold])
    assert moved["send"] == [4 * graph.n]
    expected = gpop.bfs(graph, 3, method="messages").level
    assert np.array_equal(program.level, expected)
    assert bytes(held) == bytes(HOLDS[hold](expected))


def test_a_field_of_many_values_travels(graph, moved, private):
    program = Smallest(graph)
    program.label[:] = np.arange(graph.n)[::-1]
    with emulated():
        gpop.run(program, target="gpu", mode="sc", ratio=1.0)
    assert len(moved["send"]) == 1
    expected = Smallest(graph)
    expected.label = np.arange(graph.n)[::-1]
    gpop.run(expected)
    assert np.array_equal(program.label, expected.label)


def test_on_the_cpu_such_fields_are_those_of_any_run(graph, private):
    program = BFS(graph)
    program.parent[3], program.level[3] = 3, 0
    gpop.run(program, [3])
    assert not last_run.on_device and np.array_equal(
        program.level, gpop.bfs(graph, 3, method="messages").level
    )
    assert type(getattr(BFS(graph).level.base, "obj", None)) is not private_pages.PrivatePages


def test_a_field_that_was_made_read_only_stays_so(graph, private):
    program = BFS(graph)
    program.level.flags.writeable = False
    with emulated(), pytest.raises(gpop.UsageError, match="level"):
        gpop.run(program, [3], target="gpu", mode="sc", ratio=1.0)
    assert not program.level.flags.writeable


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda program: pickle.loads(pickle.dumps(program))])
def test_programs_are_copied_before_a_run_and_afterwards(copied, graph, private):
    expected = gpop.bfs(graph, 3).level
    with emulated():
        program, _ = levels_from(graph, 3)
        assert np.array_equal(copied(program).level, expected)
        program = BFS(graph)
        program.parent[3], program.level[3] = 3, 0
        begun = copied(program)
        for each in (program, begun):
            gpop.run(each, [3], target="gpu", mode="sc", ratio=1.0)
            assert np.array_equal(each.level, expected)


def test_a_field_that_was_read_only_for_a_while_is_sent_again(graph):
    program = FOREIGN["LowestCombined"].cls(graph)
    has_in = np.bincount(graph.indices, minlength=graph.n) > 0
    with emulated():
        for value in (3, 2):
            program.value.flags.writeable = True
            program.value = value
            program.value.flags.writeable = False
            gpop.run(program, iterations=1, target="gpu", mode="edge-list", ratio=1.0, partition_size=32)
            assert np.array_equal(program.best, np.where(has_in, value, np.inf))


class Steps(gpop.Program):
    steps = gpop.VertexField(np.int64)
    more = gpop.VertexField(np.int64, 1)
    all_active = True
    combine = "add"

    def scatterFunc(self, node):
        return 0

    def gatherFunc(self, value, node):
        return True

    def filterFunc(self, node):
        self.steps[node] += self.more[node]
        return True


def test_a_callback_sees_fields_as_they_are_and_may_change_them(graph):
    for looks, changes in ((False, False), (True, False), (True, True)):
        program, seen = Steps(graph), []

        def callback(record, program=program, seen=seen, looks=looks, changes=changes):
            if looks:
                seen.append(program.steps[7])
            if changes:
                program.steps[7] += 100

        with emulated():
            gpop.run(program, iterations=3, target="gpu", mode="pc", ratio=1.0, callback=callback)
            assert seen == ([1, 102, 203] if changes else [1, 2, 3] if looks else [])
            assert program.steps[7] == (303 if changes else 3)


def test_a_callback_may_set_all_of_a_field_at_which_nobody_has_looked(graph):
    for name, expected in (("more", 21), ("steps", 11)):
        program = Steps(graph)

        def callback(record, program=program, name=name):
            if record["iteration"] < 2:
                setattr(program, name, 10)

        with emulated():
            gpop.run(program, iterations=3, target="gpu", mode="pc", ratio=1.0, callback=callback)
            assert np.all(program.steps == expected)


def test_who_looks_at_a_field_when_a_run_ends_has_what_it_leaves(graph, monkeypatch):
    """Another thread begins to make the array before the end, and is ready afterwards."""
    expected, program = gpop.bfs(graph, 3).level, BFS(graph)
    program.parent[3] = 3
    program._fields.assign("level", 3, 0)
    on_host = Declared.on_host

    def slowly(recipe):
        array = on_host(recipe)
        monkeypatch.setattr(Declared, "on_host", on_host)
        gpop.run(program, [3], target="gpu", mode="sc", ratio=1.0)
        return array

    with emulated():
        monkeypatch.setattr(Declared, "on_host", slowly)
        assert np.array_equal(program.level, expected)


def test_an_array_that_was_made_just_before_a_run_leaves_its_field_has_what_is_left(graph):
    fields, left = BFS(graph)._fields, Declared(graph.n, np.dtype(np.int32), 7)
    fields.leave("level", left)
    assert "level" not in fields.made and fields.recipes["level"] is left
    array = fields["level"]
    fields.leave("level", Declared(graph.n, np.dtype(np.int32), 9))
    assert fields["level"] is array and np.all(array == 9) and "level" not in fields.recipes


def test_who_comes_for_an_array_while_its_pages_are_looked_through_keeps_it(graph, private, monkeypatch):
    others, held = private_pages.others, []

    def while_another_comes(array):
        found = others(array)
        held.append(array)
        return found

    with emulated():
        with monkeypatch.context() as patch:
            patch.setattr(private_pages, "others", while_another_comes)
            program, _ = levels_from(graph, 3)
        assert len(held) == 2 and any(program.level is array for array in held)
        assert np.array_equal(program.level, gpop.bfs(graph, 3).level)
        other, _ = levels_from(graph, 4)
        assert not any(other.level is array or other.parent is array for array in held)
        assert np.array_equal(program.level, gpop.bfs(graph, 3).level)


def test_a_second_run_goes_on_with_what_is_there(graph, moved):
    program = Smallest(graph)
    with emulated():
        program.label = 50
        program._fields.assign("label", 9, 5)
        for _ in range(2):
            gpop.run(program, frontier=[9], iterations=1, target="gpu", mode="sc", ratio=1.0)
        assert moved == {"send": [], "fetch": []}
        once = program.label.copy()
        program.label[:] = 0
    reached = np.unique(np.append(graph.indices[graph.indptr[9] : graph.indptr[10]], 9))
    assert np.array_equal(np.flatnonzero(once == 5), reached) and set(once) == {5, 50}


def test_what_nobody_has_looked_at_makes_room(graph, moved, monkeypatch):
    with emulated():
        expected = gpop.bfs(graph, 3, target="gpu", mode="sc", ratio=1.0).level
        found = gpop.bfs(graph, 3, target="gpu", mode="sc", ratio=1.0)
        del moved["fetch"][:]
        with monkeypatch.context() as patch:
            patch.setattr(device, "free_bytes", lambda: 0)
            left.make_room(graph, 1)
        assert len(moved["fetch"]) >= 2
        del moved["fetch"][:]
        assert np.array_equal(found.level, expected) and not moved["fetch"]


def test_two_threads_may_look_at_once(monkeypatch):
    """One has all that it wants while the other one, who has seen nothing fetched yet, makes room for it."""
    with emulated():
        found, others = left.OnDevice(device.cupy().asarray(np.arange(9))), []

        def unset(length, dtype):
            if not others:
                others.append(None)
                others[0] = found.on_host()
            return np.empty(length, dtype)

        monkeypatch.setattr(left, "unset", unset)
        assert found.on_host() is others[0] and others[0].tolist() == [*range(9)]


def test_another_thread_may_leave_something_while_room_is_made(graph, monkeypatch):
    class Grows(set):
        def __iter__(self):
            if len(self) < 2:
                self.add(Leaver())
                raise RuntimeError("Set changed size during iteration")
            return super().__iter__()

    class Leaver:
        left = 0

        def give_way(self):
            Leaver.left += 1

    monkeypatch.setattr(left, "giving_way", Grows({Leaver()}))
    monkeypatch.setattr(device, "free_bytes", lambda: 0)
    left.make_room(graph, 1)
    assert Leaver.left == 2


def test_a_copy_of_a_result_has_everything(graph):
    with emulated():
        found = gpop.bfs(graph, 3, target="gpu", mode="sc", ratio=1.0)
        again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.level, found.level) and np.array_equal(again.parent, found.parent)
    with pytest.raises(AttributeError, match="'BFSResult' object has no attribute 'distance'"):
        _ = found.distance
