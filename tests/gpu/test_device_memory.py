"""Device memory: arrays of the user's stay there, copies of a graph are kept and freed, refusal in time."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpop
from gpop.gpu import device
from gpop.gpu.rooms import Rooms
from tests.gpu.cases import CASES, MODES, check, expected, graph_of, in_plain_python, started
from tests.programs import Flag, Smallest, random_graph

pytestmark = pytest.mark.gpu


def used_bytes() -> int:
    gc.collect()
    return device.cupy().get_default_memory_pool().used_bytes()


@pytest.mark.parametrize("mode", MODES)
def test_device_arrays_stay_on_the_device(mode):
    cupy = device.cupy()
    for name in ("Smallest", "DistanceCombined", "Sums", "Changes"):
        case, graph = CASES[name], graph_of("big")
        program = started(case, graph)
        arrays = {field: cupy.asarray(getattr(program, field)) for field in case.cls.vertex_fields()}
        for field, array in arrays.items():
            setattr(program, field, array)
            assert getattr(program, field) is array
        gpop.run(
            program, case.frontier, iterations=case.iterations, mode=mode, ratio=1.0, partition_size=32,
            target="gpu",
        )  # fmt: skip
        for field, array in arrays.items():
            assert getattr(program, field) is array
            assert np.array_equal(array.get(), getattr(expected(name, "big")[0], field)), (name, field)


HOLDERS = {
    "array": lambda array: array,
    "view": lambda array: array[1:3].view(np.uint16),
    "memory": lambda array: array.data.mem,
    "place": lambda array: array.data + 4,
    "capsule": lambda array: array.toDlpack(),
    "another's": lambda array: device.cupy().from_dlpack(array),
    "copy of the description": lambda array: device.cupy().asarray(array),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_an_array_that_waits_is_taken_when_nobody_has_it(name):
    """Of CuPy's own objects; what runs make of that is tested on the emulator."""
    rooms, kind = Rooms(), (1000, np.dtype(np.int32))
    first = rooms.room("level", *kind)
    held, begin = HOLDERS[name](first), first.data.ptr
    del first
    second = rooms.room("level", *kind)
    assert second.data.ptr != begin
    del second
    third = rooms.room("level", *kind).data.ptr
    assert third != begin and rooms.room("level", *kind).data.ptr == third
    del held


def test_small_device_arrays_and_callbacks():
    """Fields of one byte are swapped in the word around them, which must not reach beyond the array."""
    cupy, graph = device.cupy(), random_graph(31, 1001, 6000)
    around = cupy.full(1001 + 22, 7, np.uint8).view(np.bool_)
    program, seen = Flag(graph), []
    program.marked = around[11 : 11 + 1001]
    program.marked[:] = False
    program.note = np.arange(1001)
    gpop.run(
        program, target="gpu", mode="sc", partition_size=32,
        callback=lambda record: seen.append(int(program.marked.sum())),
    )  # fmt: skip
    plain = Flag(graph)
    gpop.run(plain, target="gpu", mode="pc", partition_size=32)
    assert seen == sorted(seen)
    assert seen[-1] == np.count_nonzero(plain.marked) > 100
    assert np.array_equal(program.marked.get(), plain.marked)
    outside = around.view(np.uint8).get()
    assert np.all(outside[:11] == 7)
    assert np.all(outside[-11:] == 7)
    assert np.array_equal(program.note, np.arange(1001))  # a field that no function uses stays as it is


def test_a_device_array_is_refused_on_the_cpu():
    program = Smallest(graph_of("small"))
    program.label = device.cupy().zeros(90, np.uint32)
    with pytest.raises(gpop.UsageError, match=r"^field label is a device array: expected target 'gpu'$"):
        gpop.run(program)


def test_copies_of_a_graph_are_kept_and_freed():
    graph = random_graph(32, 20_000, 400_000)
    before = used_bytes()
    for mode in ("sc", "pc"):
        gpop.run(Smallest(graph), mode=mode, target="gpu", partition_size=1024)
    kept = used_bytes()
    assert kept - before >= 4 * graph.m + 2 * graph.m  # neighbours, and the ids of the bins
    gpop.run(Smallest(graph), mode="pc", target="gpu", partition_size=1024)
    assert used_bytes() == kept
    graph.drop("device")
    assert used_bytes() == before
    case = CASES["Smallest"]
    check(case, graph_of("big"), expected("Smallest", "big"), "pc", 32, "declared")
    graph_of("big").drop("device")
    check(case, graph_of("big"), expected("Smallest", "big"), "pc", 32, "declared")


@pytest.mark.parametrize("mode", MODES)
def test_not_enough_memory_is_said_before_anything_is_allocated(mode, monkeypatch):
    graph = random_graph(33, 5000, 100_000)
    program = Smallest(graph)
    program.label = np.arange(5000)[::-1]
    untouched, before = program.label.copy(), used_bytes()
    monkeypatch.setattr(device, "free_bytes", lambda: 100_000)
    with pytest.raises(gpop.NotEnoughMemory, match=r"needs .* GiB on the device, .* GiB are free$") as error:
        gpop.run(program, mode=mode, ratio=1.0, target="gpu", partition_size=256)
    assert "\n" not in str(error.value)
    assert used_bytes() <= before  # what was kept of runs before has given way
    assert np.array_equal(program.label, untouched)
    monkeypatch.undo()
    gpop.run(program, mode=mode, ratio=1.0, target="gpu", partition_size=256)  # the graph is as good as new
    wanted = Smallest(graph)
    wanted.label = untouched
    gpop.run(wanted, target="gpu", mode="sc", partition_size=256)
    assert np.array_equal(program.label, wanted.label)


def test_what_is_free_counts_what_cupy_keeps(monkeypatch):
    cupy = device.cupy()
    monkeypatch.setattr(cupy.cuda.runtime, "memGetInfo", lambda: (1000, 2000))
    array = cupy.zeros(1 << 22, np.uint8)
    before = device.free_bytes()
    del array
    assert device.free_bytes() == before + (1 << 22)


def test_runs_leave_nothing_behind_in_the_next():
    """Dense, sparse, weighted and tracked programs in turn on one graph, in all modes."""
    graph = random_graph(34, 400, 3000, weights=True)
    for name in ("Countdown", "Colours", "WeightedSumsCombined", "Letters", "Smallest", "MarkedRumours"):
        wanted = in_plain_python(CASES[name], graph)
        for mode in MODES:
            check(CASES[name], graph, wanted, mode, 32, "declared")
