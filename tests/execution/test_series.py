"""Parameters that have a value for each iteration, on every target that can be had here."""

import numpy as np
import pytest

import gpop
from gpop.cpu.engine import CpuEngine
from tests.gpu.emulator import emulated
from tests.quick import slow


class Steps(gpop.Program):
    """Each vertex adds the step of the iteration, told as a message; who is far enough has heard enough."""

    total = gpop.VertexField(np.int64)
    step = gpop.Parameter(np.int64, 7)
    factor = gpop.Parameter(np.float32, 1)
    deep = gpop.Parameter(bool)
    unused = gpop.Parameter(np.int8)

    def scatterFunc(self, node):
        return self.step

    def initFunc(self, node):
        return True

    def gatherFunc(self, value, node):
        self.total[node] += np.int64(value * self.factor)
        return True

    def filterFunc(self, node):
        if self.deep:
            self.total[node] += 1000
        return True


class AllSteps(Steps):
    all_active = True


def program_on_ring(kind, **parameters):
    ring = gpop.Graph.from_edges([0, 1, 2], [1, 2, 0])
    program = kind(ring)
    for name, value in parameters.items():
        setattr(program, name, value)
    return program


SERIES = {
    "step": np.array([1, -2, 4]),
    "factor": (10, 1),
    "deep": [False] * 4 + [True],
    "unused": [1, 2],
}
TOTAL = 10 - 2 + 4 + 4 + 4 + 1000


@pytest.mark.parametrize("kind", [Steps, AllSteps])
@pytest.mark.parametrize(
    "options", [{"mode": "sc"}, {"mode": "pc"}, {}, {"target": "python"}, {"callback": lambda record: None}]
)
def test_each_iteration_has_its_own_value_and_the_last_one_stays(kind, options):
    program = program_on_ring(kind, **SERIES)
    gpop.run(program, iterations=5, **options)
    assert program.total.tolist() == [TOTAL] * 3


@pytest.mark.parametrize("kind", slow([Steps, AllSteps], AllSteps))
def test_on_a_gpu_each_iteration_has_its_own_value(kind):
    with emulated():
        program = program_on_ring(kind, **SERIES)
        gpop.run(program, iterations=5, target="gpu", mode="sc", ratio=1.0)
        assert program.total.tolist() == [TOTAL] * 3


def test_the_loop_does_not_come_back_to_python_for_them(monkeypatch):
    entered = []
    iterate = CpuEngine.iterate
    monkeypatch.setattr(CpuEngine, "iterate", lambda self: entered.append(1) or iterate(self))
    gpop.run(program_on_ring(Steps, **SERIES), iterations=5)
    assert len(entered) == 1


@pytest.mark.parametrize("kind", [Steps, AllSteps])
def test_a_later_run_has_its_own_parameters(kind):
    first = program_on_ring(kind, **SERIES)
    gpop.run(first, iterations=5)
    second = kind(first.graph)  # which is decided alike, and has the loop of the first
    gpop.run(second, iterations=5)
    assert second.total.tolist() == [35] * 3
    first.step, first.factor, first.deep, first.total = 3, 1, False, 0
    gpop.run(first, iterations=5)
    assert first.total.tolist() == [15] * 3


def test_a_callback_may_end_a_series():
    program = program_on_ring(Steps, step=[1, 2, 4])

    def stay(record):
        if record["iteration"] == 1:
            program.step = 100

    gpop.run(program, iterations=4, callback=stay)
    assert program.total.tolist() == [1 + 2 + 100 + 100] * 3


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_a_callback_may_begin_a_series(target):
    program = program_on_ring(Steps, step=1)

    def begin(record):
        if record["iteration"] == 0:
            program.step = [7, 20, 300]

    gpop.run(program, iterations=4, callback=begin, target=target)
    assert program.total.tolist() == [1 + 20 + 300 + 300] * 3


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_the_program_has_the_value_of_the_first_iteration(target):
    program = program_on_ring(Steps, step=[1, 2])
    assert program.step == 1
    gpop.run(program, iterations=0, target=target)
    assert program.step == 1 and program.total.tolist() == [0] * 3
    gpop.run(program, iterations=3, target=target)
    assert program.step == 1 and program.total.tolist() == [5] * 3

    def fail(record):
        if record["iteration"] == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gpop.run(program, iterations=3, callback=fail, target=target)
    assert program.step == 1


def test_a_run_that_goes_on_has_the_values_of_its_iterations(tmp_path):
    program = program_on_ring(Steps, **SERIES)

    def fail(record):
        if record["iteration"] == 2:
            raise KeyError

    with pytest.raises(KeyError):
        gpop.run(program, iterations=5, callback=fail, checkpoint=gpop.Checkpoint(tmp_path, iterations=1))
    again = program_on_ring(Steps, **SERIES)
    gpop.run(again, iterations=5, checkpoint=gpop.Checkpoint(tmp_path, iterations=1))
    assert again.total.tolist() == [TOTAL] * 3


@pytest.mark.parametrize("series", [False, True])
def test_a_run_that_goes_on_has_what_a_callback_has_set(series, tmp_path):
    """A number, also in place of a list; iterations are numbered on."""

    def total(die, **options):
        program, seen = program_on_ring(Steps, step=[1, 50] if series else 1), []

        def count(record):
            seen.append(record["iteration"])
            program.step = 10 * program.step
            if len(seen) == die:
                raise KeyError

        run = gpop.run(program, iterations=5, callback=count, **options)
        assert run.trace.column("iteration").tolist() == seen
        return program.total.tolist(), seen

    keep = {"checkpoint": gpop.Checkpoint(tmp_path, iterations=1)}
    with pytest.raises(KeyError):
        total(3, **keep)
    assert total(None, **keep) == ([11111] * 3, [2, 3, 4])
    assert total(None) == ([11111] * 3, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("values", [[], [[1, 2]], ["x"], [1, None], [300]])
def test_what_is_no_list_of_values_is_refused(values):
    class Small(Steps):
        step = gpop.Parameter(np.uint8, 7)

    with pytest.raises(gpop.UsageError, match="parameter step"):
        program_on_ring(Small, step=values)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_an_array_is_taken_as_a_list_of_its_values(kind):
    values = np.array([1 / 3, 1e-300, 7])
    as_array, as_list = (program_on_ring(AllSteps, factor=each) for each in (values.astype(kind), [*values]))
    assert as_array._series["factor"].dtype == np.float32
    assert np.array_equal(as_array._series["factor"], as_list._series["factor"])


def test_what_is_misspelt_beside_a_list_is_refused():
    program = program_on_ring(Steps, step=[1, 2])
    program.tot_al = 1
    with pytest.raises(gpop.ProgramError, match="did you mean total"):
        gpop.run(program, iterations=1)
