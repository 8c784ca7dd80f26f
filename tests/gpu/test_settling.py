"""A run on the device whose changes sum to less than a tolerance ends there, without the host looking."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import engine
from gpop.gpu.engine import GpuEngine
from tests.gpu.emulator import emulated
from tests.programs import Halved
from tests.quick import quick

GRAPH = generate("rmat", scale=8, degree=4, seed=3, symmetrize=True)
WAYS = ["pc", "sc", "pull", "hyb", "edge-list", "auto"]


def check(mode: str) -> None:
    """In iteration i all lose n / 2**(i+1): exactly as much as the tolerance is not less."""
    for least, iterations in ((GRAPH.n / 2**5, 6), (GRAPH.n / 2**5 * 1.001, 5)):
        program = Halved(GRAPH)
        program.least = least
        run = gpop.run(program, mode=mode, target="gpu")
        assert (run.iterations, run.converged, len(run.trace)) == (iterations, True, iterations)
        assert np.all(program.left == 0.5**iterations)


def check_launches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(engine, "SLICE_NS", 10**12)  # a device that others use, too, is slow
    launches, launch = [], GpuEngine._launch

    def count(self, *arguments, **named):
        launches.append(self.plan.lowered.name)
        return launch(self, *arguments, **named)

    patch.setattr(GpuEngine, "_launch", count)
    found = gpop.pagerank(GRAPH, target="gpu", mode="pc")
    assert launches == ["ConvergingPageRank"]
    expected = gpop.pagerank(GRAPH)
    assert found.converged and found.iterations == expected.iterations > 5
    assert np.allclose(found.rank, expected.rank, rtol=1e-5)


@pytest.mark.parametrize("mode", quick(WAYS, "pc", "pull"))
def test_a_run_is_over_with_the_first_iteration_whose_changes_are_less(mode):
    with emulated():
        check(mode)


def test_the_limit_comes_first():
    program = Halved(GRAPH)
    program.least = 1e-9
    with emulated():
        assert not gpop.run(program, iterations=3, mode="pc", target="gpu").converged


def test_the_host_launches_once(monkeypatch):
    with emulated():
        check_launches(monkeypatch)


def test_a_callback_has_every_iteration():
    program, seen = Halved(GRAPH), []
    program.least = GRAPH.n / 2**5
    with emulated():
        run = gpop.run(program, mode="pc", target="gpu", callback=lambda row: seen.append(row["iteration"]))
    assert run.converged and seen == list(range(6))


@pytest.mark.gpu
@pytest.mark.parametrize("mode", WAYS)
def test_on_a_device(mode):
    check(mode)


@pytest.mark.gpu
def test_a_device_is_launched_once(monkeypatch):
    check_launches(monkeypatch)
