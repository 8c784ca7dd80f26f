"""The profiler: baselines against the apps, back ends by what is counted, the command line."""

import json
import os
from typing import NamedTuple

import numpy as np
import pytest

import gpop
from gpop.cpu import specialise
from gpop.cpu.schedule import NO_SCHEDULE, schedule_of
from gpop.generate import generate
from gpop.layout.kept_bins import bins_of
from perf import cachegrind, hardware_counters, l2, l2_simulator, l2_tables, vertex_centric
from perf.cache_simulator import L2_MISSES, Geometry, make_cache
from perf.l2_workload import MODES, Workload, parse_modes

L1, L2 = Geometry(1 << 12, 8), Geometry(1 << 14, 16)


@pytest.fixture(scope="module")
def graph():
    return generate("rmat", scale=9, degree=6, seed=3, weights=(1, 20))


def reference(app, work, iterations):
    """The app's own answer, through the public API."""
    graph, source = work.graph, work.source
    return {
        "pagerank": lambda: gpop.pagerank(graph, iterations=iterations).rank,
        "bfs": lambda: gpop.bfs(graph, source).level,
        "sssp": lambda: gpop.sssp(graph, source).distance,
        "cc": lambda: gpop.connected_components(graph).label,
    }[app]()


@pytest.mark.parametrize("app", vertex_centric.APPS)
@pytest.mark.parametrize("mode", ["baseline-push", "baseline-pull"])
def test_baselines_compute_what_the_apps_compute(graph, app, mode):
    work = l2.workload(app, graph, "max-degree", L2, None)
    iterations = 4 if app == "pagerank" else None
    done, answer = work.run(mode, iterations)
    assert np.allclose(answer, reference(app, work, iterations), rtol=1e-5, atol=0)
    assert done == 4 if app == "pagerank" else 2 <= done < 20


@pytest.mark.parametrize("mode", ["baseline-push", "baseline-pull"])
def test_a_baseline_stops_at_its_limit(graph, mode):
    work = l2.workload("bfs", graph, "max-degree", L2, None)
    done, levels = work.run(mode, 1)
    assert done == 1 and levels.max() == 1


@pytest.mark.slow
def test_partition_centric_misses_are_those_of_its_arrays(graph):
    """A cache that holds everything: each line misses once, in the first iteration."""
    work = Workload("pagerank", graph, 0, 128)
    huge = Geometry(1 << 22, 16)
    first, second, third = l2_simulator.misses_of(work, "pc", 3, L1, huge)
    messages = bins_of(graph, 7, 1)[0].messages
    # ids and sources of 2 bytes, values and two fields of 4
    least = (2 * graph.m + 2 * messages + 4 * messages + 8 * graph.n) // 64
    # degrees, offsets of bins (k*k) and lists beside them
    k = graph.n // 128
    assert least <= first <= least + (8 * graph.n + 48 * k * k) // 64 + 100
    assert second == third == 0
    small = l2_simulator.misses_of(work, "pc", 2, Geometry(1 << 10, 8), Geometry(1 << 12, 16))
    assert least / 2 < small[1] < 2 * least  # streams are read again, a partition's vertices stay


def test_parameters_are_those_of_the_iteration_under_simulation():
    class State(NamedTuple):
        heat: np.ndarray
        step: np.float32
        hot: np.bool_

    state = State(np.zeros(3), np.float32(9), np.bool_(False))
    series = {"hot": np.array([True, False]), "step": np.array([0.5, -1.5, 2], np.float32)}
    schedule = schedule_of(series, {"step": 1, "hot": 2})
    found = [l2_simulator._in_iteration(state, schedule, i) for i in range(5)]
    assert [(float(each.step), bool(each.hot)) for each in found] == [
        (0.5, True), (-1.5, False), (2, False), (2, False), (2, False),
    ]  # fmt: skip
    assert all(each.heat is state.heat and each.step.dtype == np.float32 for each in found)
    assert l2_simulator._in_iteration(state, NO_SCHEDULE, 3) == state


@pytest.mark.slow
def test_simulated_engine_gives_the_same_answer_and_is_put_back(graph):
    work = Workload("pagerank", graph, 0, 128)
    expected = work.run("pc", 3)[1]
    before = specialise.compile_loop
    with l2_simulator.engine_on(make_cache(L1, L2)) as misses:
        done, answer = work.run("pc", 3)
    assert np.array_equal(answer, expected)
    assert len(misses) == done == 3 and misses[1] == misses[2] > 0
    assert specialise.compile_loop is before


def test_baseline_misses_by_direction():
    """A star: push from the hub writes each leaf once, in order; pull reads the hub, which stays in L1."""
    n = 1 << 12
    star = gpop.Graph.from_edges(np.zeros(n - 1, np.uint32), np.arange(1, n, dtype=np.uint32), n=n)
    work = Workload("pagerank", star, 0, n)
    lines = n * 4 / 64
    push, pull = (
        l2_simulator.misses_of(work, mode, 2, L1, L2)[1] for mode in ("baseline-push", "baseline-pull")
    )
    # share, sum and 1/degree are read in order twice or once; offsets of 8 bytes; edges of 4
    assert push == pytest.approx(8 * lines, rel=0.2)
    assert pull == pytest.approx(7 * lines, rel=0.2)


def test_modes():
    assert parse_modes("sc,push,pull,gpop-pull") == ["sc", "baseline-push", "baseline-pull", "gpop-pull"]
    assert parse_modes(",".join(MODES)) == list(MODES)


FAKE = """#!/bin/sh
# Prints what the watched process would print, and a count that follows from the job.
iterations=0
case "$*" in *true*) ;; *) iterations=$(sed 's/.*"runs": \\[\\["[a-z-]*", \\([0-9]*\\).*/\\1/' "${11}");; esac
echo "[17, $iterations]"
echo "$((5000 + 100 * iterations)),,l2d_cache_refill,1,100.00,," > "$4"
case "$6" in l2d_cache_refill) ;; *) echo "<not supported>,,$6,0,100.00,," > "$4";; esac
"""


@pytest.fixture
def fake_perf(tmp_path, monkeypatch):
    program = tmp_path / "perf"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    hardware_counters.event.cache_clear()
    yield
    hardware_counters.event.cache_clear()


def test_hardware_counters_take_the_event_that_counts(graph, fake_perf):
    assert hardware_counters.event() == "l2d_cache_refill"
    assert l2.choose_back_end("auto", False, graph.m) is hardware_counters
    assert l2.choose_back_end("auto", True, graph.m) is l2_simulator
    work = Workload("pagerank", graph, 0, 128)
    assert hardware_counters.measure(work, ["sc", "baseline-pull"], (1, 4), L1, L2) == {
        "sc": (3, 300),
        "baseline-pull": (3, 300),
    }
    assert "l2d_cache_refill" in hardware_counters.describe()


def test_without_counters_small_graphs_are_simulated(monkeypatch):
    monkeypatch.setattr(hardware_counters, "event", lambda: None)
    monkeypatch.setattr(cachegrind, "available", lambda: True)
    assert l2.choose_back_end("auto", False, l2.SMALL) is l2_simulator
    assert l2.choose_back_end("auto", False, l2.SMALL + 1) is cachegrind
    monkeypatch.setattr(cachegrind, "available", lambda: False)
    assert l2.choose_back_end("auto", False, l2.SMALL + 1) is l2_simulator
    with pytest.raises(gpop.common.errors.UsageError, match="expected simulator"):
        l2.choose_back_end("cachegrind", False, 1)


FAKE_VALGRIND = """#!/bin/sh
for argument in "$@"; do case "$argument" in
  --LL=*) LL=${argument#--LL=};;
  --cachegrind-out-file=*) out=$(dirname "${argument#--cachegrind-out-file=}");;
esac; done
[ "$LL" = 16384,16,64 ] || exit 1
# The same kernels inside and outside: without features, those of the processor it seems to be are taken.
[ "$NUMBA_CPU_NAME/${NUMBA_CPU_FEATURES-unset}" = haswell/ ] || exit 1
for job in 1 2; do
  echo "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw" > "$out/out.$job"
  echo "summary: 9 9 9 9 9 $((job * 100)) 9 9 $job" >> "$out/out.$job"
  echo "[$job, $((job * 2))]"
done
"""


def test_cachegrind_subtracts_data_misses(graph, tmp_path, monkeypatch):
    program = tmp_path / "valgrind"
    program.write_text(FAKE_VALGRIND)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    work = Workload("pagerank", graph, 0, 128)
    assert cachegrind.measure(work, ["baseline-pull"], (2, 4), L1, L2) == {"baseline-pull": (2, 101)}


def test_a_watched_process_that_dies_is_one_line(graph, tmp_path, monkeypatch):
    (tmp_path / "valgrind").write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    (tmp_path / "valgrind").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    work = Workload("pagerank", graph, 0, 128)
    with pytest.raises(gpop.common.errors.UsageError, match="valgrind ended with code 3: out of luck"):
        cachegrind.measure(work, ["baseline-pull"], (1, 2), L1, L2)


def test_command_prints_json(capsys):
    arguments = "--app bfs --graph data/karate.bin --modes push,pull --backend simulator --l2 4K --json"
    assert l2.main(arguments.split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["back_end"].startswith("simulator") and found["l2"]["size"] == 4096
    assert found["note"] is None
    assert [mode["mode"] for mode in found["modes"]] == ["baseline-push", "baseline-pull"]
    for mode in found["modes"]:
        each = mode["l2_misses_of_iterations"]
        assert sum(each) == mode["l2_misses"] > 0 and len(each) == mode["iterations"]
        assert mode["l2_misses_per_edge"] == mode["l2_misses"] / found["edges"]


def test_command_prints_a_table_that_names_the_back_end(capsys):
    arguments = "--graph data/karate.bin --modes pull --backend simulator --iterations 3"
    assert l2.main(arguments.split()) == 0
    printed = capsys.readouterr().out
    assert "L2 misses by simulator" in printed and "1 thread\n" in printed
    record, note = printed.splitlines()[-2:]
    assert record.split()[:3] == ["baseline-pull", "3", "0"] and note.startswith("no misses: all data fit")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("--modes sideways", "mode 'sideways'"),
        ("--l2 1000", "cache 1000"),
        ("--iterations 0", "iterations 0"),
        ("--source x", "expected max-degree"),
        ("--source 99 --app bfs", "99"),
        ("--backend counters --l2 64K", "counters"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message):
    assert l2.main(f"--graph data/karate.bin --backend simulator {arguments}".split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("gpop: ") and message in error and error.count("\n") == 1


def test_tables_say_where_it_does_not_pay(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(l2_tables, "profile", lambda work, modes, *rest: fake_records(work, modes))
    out = tmp_path / "result.txt"
    assert l2_tables.main(["sides", "data/karate.bin", "--out", str(out)]) == 0
    assert out.read_text().startswith("command   python -m perf l2-tables sides data/karate.bin\n")
    lines = capsys.readouterr().out.splitlines()
    assert lines[8].split()[-3:] == ["0.25", "2.00", "fits"]
    assert "pc misses less than push and pull: nowhere" in lines
    assert "auto misses less than push and pull: pagerank karate, bfs karate" in lines
    assert lines[-1] == "auto does not: nowhere"


def test_agreement_fails_when_the_back_ends_differ(capsys, monkeypatch):
    def records(work, modes, iterations, back_end, *rest):
        factor = 1.2 if back_end is cachegrind else 1.0
        return [{"mode": mode, "l2_misses_per_edge_and_iteration": factor} for mode in modes]

    monkeypatch.setattr(l2_tables, "profile", records)
    assert l2_tables.main(["agreement", "--scales", "5"]) == 1
    monkeypatch.setattr(l2_tables, "profile", lambda *rest: records(*rest[:3], None))
    assert l2_tables.main(["agreement", "--scales", "5"]) == 0


def fake_records(work, modes):
    misses = {"pc": 4.0, "sc": 9.0, "auto": 0.5, "gpop-pull": 3.0, "baseline-push": 2.0, "baseline-pull": 1.0}
    keys = ("l2_misses_per_edge_and_iteration", "l2_misses_per_edge")
    return [{"mode": mode, **dict.fromkeys(keys, misses[mode])} for mode in modes]


@pytest.mark.slow
@pytest.mark.timeout(3600)  # every instruction is simulated
@pytest.mark.skipif(not cachegrind.available(), reason="valgrind is not installed")
@pytest.mark.parametrize("scale", [14, 15, 16])
def test_simulator_agrees_with_cachegrind(scale):
    l1, l2_cache = Geometry(32 << 10, 8), Geometry(256 << 10, 16)
    modes = parse_modes("sc,pc,push,pull")
    for _, mode, ours, theirs in l2_tables.agreement([scale], l1, l2_cache, modes):
        assert ours == pytest.approx(theirs, rel=l2_tables.ALLOWED), mode


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sc", "pc", "auto", "gpop-pull"])
@pytest.mark.parametrize("app", l2.PROGRAMS)
def test_every_app_is_the_same_under_simulation(graph, app, mode):
    work = l2.workload(app, graph, "max-degree", L2, 128)
    length = 3 if app == "pagerank" else None
    done, expected = work.run(mode, length)
    cache = make_cache(L1, L2)
    with l2_simulator.engine_on(cache) as misses:
        again, answer = work.run(mode, length)
    assert np.array_equal(answer, expected) and len(misses) == done == again
    assert sum(misses) == int(cache[L2_MISSES]) > 0
