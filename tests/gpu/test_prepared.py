"""What a run on a GPU leaves for the next one: kernels, a clean workspace, one block for what is small."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import device, engine, exchange, prepared
from gpop.gpu.left import make_room
from gpop.graph.kept import Kind
from tests.gpu import emulator
from tests.gpu.emulator import emulated
from tests.programs import Smallest, random_graph


@pytest.fixture
def made(monkeypatch):
    """Everything that was prepared, and every workspace that was made."""
    found = {"prepared": [], "spaces": []}
    prepare, space = prepared.Prepared.__post_init__, prepared.Workspace

    def watched(ready):
        found["prepared"].append(ready)
        prepare(ready)

    monkeypatch.setattr(prepared.Prepared, "__post_init__", watched)
    monkeypatch.setattr(
        prepared, "Workspace", lambda *given: found["spaces"].append(space(*given)) or found["spaces"][-1]
    )
    return found


def test_what_is_kept_with_a_graph_is_of_one_device(made, monkeypatch):
    graph = random_graph(6, 200, 900)
    with emulated():
        for each in (0, 1):
            monkeypatch.setattr(emulator.Device, "id", each)
            gpop.run(Smallest(graph), target="gpu", mode="sc", ratio=1.0, partition_size=32)
    first, second = (ready.layout for ready in made["prepared"])
    assert first is not second
    assert first.arrays["indptr"] is not second.arrays["indptr"]


def test_calls_again_take_nothing_of_another_device(monkeypatch):
    """By messages and on lists, however devices take turns."""
    graph = random_graph(6, 200, 900, weights=True)
    asked = {
        "bfs": lambda **given: gpop.bfs(graph, 3, method="messages", ratio=1.0, **given).level,
        "cc": lambda **given: gpop.connected_components(graph, **given).label,
        "lists": lambda **given: gpop.sssp(graph, 3, method="lists", **given).distance,
    }
    expected = {name: ask() for name, ask in asked.items()}
    with emulated():
        for each in (0, 1, 0, 0, 1, 1):
            monkeypatch.setattr(emulator.Device, "id", each)
            for name, ask in asked.items():
                assert np.array_equal(ask(target="gpu"), expected[name])
    keys = {key for kind, key in graph.store._entries if kind is Kind.DEVICE}
    assert len(keys) == 6 and {key[:-1] for key in keys if key[-1] == 0} == {
        key[:-1] for key in keys if key[-1] == 1
    }


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "sc", "pc", "edge-list"])
def test_a_second_run_finds_everything_ready_and_clean(mode, made):
    graph = random_graph(6, 200, 900, weights=True)
    expected = {source: gpop.sssp(graph, source).distance for source in (0, 5, 9)}
    with emulated():
        for source in (0, 5, 9, 5):
            found = gpop.sssp(graph, source, target="gpu", mode=mode, ratio=1.0, partition_size=32)
            assert np.array_equal(found.distance, expected[source])
        assert (len(made["prepared"]), len(made["spaces"])) == (1, 1)
        gpop.sssp(graph, 0, target="gpu", mode=mode, ratio=2.0, partition_size=32)
        assert len(made["prepared"]) == 2  # another ratio is another plan
        graph.drop("device")
        gpop.sssp(graph, 0, target="gpu", mode=mode, ratio=1.0, partition_size=32)
        assert len(made["prepared"]) == 3


def test_a_workspace_that_may_not_be_clean_is_not_kept(made, monkeypatch):
    graph = random_graph(6, 200, 900)

    def labels(**options):
        program = Smallest(graph)
        program.label = np.arange(graph.n)[::-1]
        run = gpop.run(program, target="gpu", mode="sc", ratio=1.0, partition_size=32, **options)
        return program.label, run

    with emulated():
        whole, _ = labels()
        partly, run = labels(iterations=1)
        assert len(run.frontier)
        assert len(made["spaces"]) == 1
        assert np.array_equal(labels()[0], whole)
        assert len(made["spaces"]) == 2
        with pytest.raises(RuntimeError):
            labels(callback=_fail)
        assert np.array_equal(labels()[0], whole)
        assert len(made["spaces"]) == 3
        monkeypatch.setattr(prepared, "KEPT_SHARE", 1 << 60)
        graph.drop("device")
        assert np.array_equal(labels()[0], whole)
        assert np.array_equal(labels()[0], whole)
        assert len(made["spaces"]) == 5
    assert not np.array_equal(partly, whole)


def _fail(record):
    raise RuntimeError("of the user")


@pytest.mark.slow
@pytest.mark.parametrize("small", [0, exchange.SMALL])
def test_large_fields_and_frontiers_have_copies_of_their_own(small, monkeypatch):
    monkeypatch.setattr(exchange, "SMALL", small)
    graph = generate("grid", width=60, height=3)
    with emulated():
        found = gpop.bfs(graph, 0, target="gpu", mode="sc")
        program = Smallest(graph)
        program.label = np.arange(graph.n)
        gpop.run(program, np.arange(exchange.FEW + 1), target="gpu", mode="sc")
    assert found.run.iterations > exchange.FIRST_ROWS
    assert np.array_equal(found.level, gpop.bfs(graph, 0).level)
    assert found.trace.column("frontier").tolist() == np.bincount(found.level).tolist()
    assert not program.label.any()


@pytest.mark.slow
def test_nobody_else_s_kernels_are_taken(made):
    """Another CuPy, here another emulator, has modules of its own."""
    graph = random_graph(6, 200, 900)
    for count in (1, 2):
        with emulated():
            gpop.bfs(graph, 0, target="gpu", ratio=1.0)
        assert len(made["prepared"]) == count


@pytest.mark.slow
def test_a_run_that_is_pushed_otherwise_is_prepared_alone(made):
    """Tests compare ways to push, which no plan tells apart."""
    from gpop.gpu.traits import SWAP
    from gpop.plan.plan import decide

    graph = random_graph(6, 200, 900)
    with emulated():
        for _ in range(2):
            engine.GpuEngine(decide(Smallest(graph), target="gpu", mode="sc"), SWAP).prepare()
    assert len(made["prepared"]) == 2


def test_a_workspace_that_is_kept_makes_room(made, monkeypatch):
    graph = random_graph(6, 200, 900)
    with emulated():
        for _ in range(2):
            gpop.bfs(graph, 0, target="gpu", mode="sc", ratio=1.0)
        assert len(made["spaces"]) == 1
        with monkeypatch.context() as patch:
            patch.setattr(device, "free_bytes", lambda: 0)
            make_room(random_graph(7, 20, 90), 1)  # another graph is prepared
        gpop.bfs(graph, 0, target="gpu", mode="sc", ratio=1.0)
        assert len(made["spaces"]) == 2 and len(made["prepared"]) == 1


class Hops(gpop.Program):
    """Levels, with what the frontier was and is."""

    hops = gpop.VertexField(np.int32, -1)
    step = gpop.Parameter(np.int32, 1)
    track_touched = True

    def scatterFunc(self, node):
        return self.hops[node] + self.step

    def gatherFunc(self, value, node):
        if self.hops[node] < 0:
            self.hops[node] = value
            return True
        return False


@pytest.mark.parametrize("watched", [False, True])
def test_a_run_of_no_iterations_has_its_frontier_loaded(watched):
    graph, sources = random_graph(2, 90, 300), [3, 70, 4]
    options = {"callback": lambda record: False} if watched else {}
    with emulated():
        for again in range(2):
            for iterations, frontier in ((0, sources), (0, None), (1, sources), (0, range(80))):
                answers = []
                for target in ("cpu", "gpu"):
                    program = Hops(graph)
                    program.hops[sources] = 0
                    run = gpop.run(
                        program, frontier and list(frontier), iterations=iterations, target=target,
                        ratio=1.0, **options,
                    )  # fmt: skip
                    active, touched = (np.sort(each).tolist() for each in (run.frontier, run.touched))
                    answers.append((active, touched, program.hops.tolist(), run.iterations, run.converged))
                assert answers[0] == answers[1], (again, iterations, frontier)


def test_runs_alike_have_their_own_fields_parameters_limits_and_frontiers():
    """What a run takes over from the one before is what they share, and nothing else."""
    from gpop.gpu.device import cupy

    graph = random_graph(4, 90, 250)
    with emulated():
        kept = []
        for turn, (source, step, iterations, on_device) in enumerate(
            [(0, 1, None, False), (7, 3, None, False), (7, 3, 2, False), (5, 2, None, True),
             (7, 1, None, False), (9, 1, 3, True), (0, 5, None, False)]
        ):  # fmt: skip
            answers = []
            for target in ("cpu", "gpu"):
                program = Hops(graph)
                program.step = step
                if target == "gpu" and on_device:
                    program.hops = cupy().zeros(graph.n, np.int32)
                    program.hops.fill(-1)
                program.hops[source] = turn
                run = gpop.run(program, [source], iterations=iterations, target=target, ratio=1.0)
                answers.append(
                    (np.array(program.hops).tolist(), run.iterations, np.sort(run.touched).tolist())
                )
            assert answers[0] == answers[1], turn
            kept.append((program, answers[0][0]))
        for program, hops in kept:  # no later run has written what an earlier one has
            assert np.array(program.hops).tolist() == hops


@pytest.mark.parametrize("most", [1, 2, 512])
def test_a_frontier_is_loaded_once_however_many_launches_a_run_takes(most, monkeypatch):
    graph = random_graph(6, 200, 500)
    monkeypatch.setattr(engine.GpuEngine, "most_rows", most)
    seen = {}
    with emulated():
        for target in ("cpu", "gpu", "gpu"):
            program = Hops(graph)
            program.hops[3] = 0
            run = gpop.run(program, [3], target=target, ratio=1.0)
            seen.setdefault(target, []).append([*run.trace.column("frontier").tolist(), run.iterations])
    assert seen["gpu"] == seen["cpu"] * 2


def test_a_device_array_is_no_small_field_after_runs_in_which_it_was():
    from gpop.gpu.device import cupy

    graph, found = random_graph(4, 90, 250), []
    with emulated():
        for on_device in (False, False, True, False, True, True):
            program = Hops(graph)
            if on_device:
                program.hops = array = cupy().zeros(graph.n, np.int32)
                array.fill(-1)
            program.hops[3] = 0
            gpop.run(program, [3], target="gpu", ratio=1.0)
            assert not on_device or program.hops is array
            found.append(np.array(program.hops).tolist())
    assert found == [found[0]] * 6


def test_a_run_after_one_that_failed_and_one_from_another_thread(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    graph = random_graph(5, 60, 200)
    expected = [gpop.bfs(graph, source).level.tolist() for source in range(12)]
    with emulated():
        gpop.bfs(graph, 0, target="gpu", ratio=1.0)
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="of the driver"):

            def fails(stream):
                raise RuntimeError("of the driver")

            patch.setattr(device.cupy().cuda.runtime, "streamSynchronize", fails)
            gpop.bfs(graph, 3, target="gpu", ratio=1.0)
        with ThreadPoolExecutor(3) as pool:
            found = pool.map(lambda source: gpop.bfs(graph, source, target="gpu", ratio=1.0), range(12))
            assert [each.level.tolist() for each in found] == expected
