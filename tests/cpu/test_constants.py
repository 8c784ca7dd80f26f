"""What auto chooses by: fitted to what was measured, kept by machine, the same throughout a process."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from gpop import constants as command
from gpop import warm
from gpop.common.alike import SETTING
from gpop.cpu import calibrate, constants
from gpop.cpu.engine import CpuEngine
from gpop.layout import edge_blocks
from gpop.model.bytes import PROBE_BYTES
from gpop.model.constants import SHIPPED, Constants
from gpop.plan.plan import decide
from gpop.plan.trace import COLUMNS, SCATTER_AT
from tests.programs import Smallest

PARTS = [
    (np.array([1, 0.3, 0.0]), np.array([1, 0.2])),
    (np.array([1, 0.5, 0.0]), np.array([1, 0.8])),
    (np.array([1, 0.2, 0.1]), np.array([1, 0.3])),
    (np.array([1, 0.9, 1.0]), np.array([1, 1.0])),
]
EDGES = np.full(4, 1e6)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that has not chosen yet, on a machine of which nothing is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(SETTING)
    monkeypatch.setattr(constants, "_of_process", {})


def took(pull=1.0, pc=1.0, sc=1.0):
    """What iterations take where the constants are the shipped ones, but for these factors."""
    costs = np.array(SHIPPED.costs)
    seconds = {
        "pull": pull * np.array([parts @ costs[:3] for parts, _ in PARTS]) * EDGES * 1e-9,
        "pc": pc * np.array([parts @ costs[3:] for _, parts in PARTS]) * EDGES * 1e-9,
    }
    # Bytes with which PC and SC, whose bandwidth is half of PC's, take these times.
    messages = EDGES * [0.2, 0.8, 0.3, 1.0]
    sent = {"pc": seconds["pc"] / pc * 1e10 - PROBE_BYTES * EDGES, "pull": EDGES, "sc": EDGES * 9}
    seconds["sc"] = (
        sc * (sent["sc"] + EDGES * SHIPPED.probe + messages * SHIPPED.cursor) * SHIPPED.ratio * 1e-10
    )
    return {mode: list(zip(seconds[mode], sent[mode], messages, strict=True)) for mode in seconds}


def test_a_machine_like_the_shipped_one_has_its_constants():
    found = calibrate.constants_from(took(), EDGES, PARTS, threads=1)
    assert found.probe == SHIPPED.probe and found.cursor == SHIPPED.cursor
    assert np.allclose(found.costs, SHIPPED.costs) and found.ratio == pytest.approx(SHIPPED.ratio)


def test_what_is_slower_is_told_apart_and_threads_do_not_matter():
    slow = calibrate.constants_from(took(pull=3.0), EDGES, PARTS, threads=1)
    assert np.allclose(slow.costs[:3], 3 * np.array(SHIPPED.costs[:3]), atol=2e-3)
    assert np.allclose(slow.costs[3:], SHIPPED.costs[3:], atol=2e-3)
    assert calibrate.constants_from(took(sc=2.0), EDGES, PARTS, threads=1).ratio == pytest.approx(4.0)
    two = calibrate.constants_from(took(), EDGES, PARTS, threads=2)
    assert np.allclose(two.costs, 2 * np.array(SHIPPED.costs)) and two.ratio == pytest.approx(SHIPPED.ratio)


def test_the_measured_machine_decides():
    """Blocks where pull is fast, none where it is slow."""
    plan = edge_blocks.Plan(17, 16, 6, None, None, np.array([[10**6]]), 3 * 10**5, 5 * 10**5, 0.0)
    fast = calibrate.constants_from(took(pull=0.5), EDGES, PARTS, 1).costs
    slow = calibrate.constants_from(took(pull=2.0), EDGES, PARTS, 1).costs
    assert plan.gain(2, slow) < 0 < plan.gain(2) < plan.gain(2, fast)


def test_kept_by_machine_and_the_same_throughout_a_process(fresh, monkeypatch):
    other = SHIPPED._replace(ratio=3.5, probe=5, cursor=77)
    monkeypatch.setattr(calibrate, "measure", lambda *_: other)
    assert constants.constants() == SHIPPED and constants.kept() is None  # a small graph measures nothing
    assert constants.constants(CpuEngine) == other == constants.kept()
    assert constants.constants() == SHIPPED  # as this process has begun
    monkeypatch.setattr(calibrate, "measure", lambda *_: pytest.fail("measured again"))
    constants._of_process.clear()
    assert constants.constants() == constants.constants(CpuEngine) == other
    monkeypatch.setenv(SETTING, "shipped")
    constants._of_process.clear()
    assert constants.constants(CpuEngine) == SHIPPED
    monkeypatch.setenv(SETTING, "mine")
    constants._of_process.clear()
    with pytest.raises(gpop.UsageError, match=r"^GPOP_CONSTANTS=mine: expected shipped, or nothing$"):
        constants.constants()


def test_where_they_cannot_be_kept_the_command_says_so(fresh, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(calibrate, "measure", lambda *_: SHIPPED)
    assert command.main(["--measure"]) == 0
    assert "constants   measured now\n" in capsys.readouterr().out
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "gpop" / "constants.json"))
    assert command.main(["--measure"]) == 0
    fault = f"{tmp_path}/gpop/constants.json/gpop/constants.json: cannot be written: "
    assert f"constants   measured now, not kept: {fault}" in capsys.readouterr().out
    monkeypatch.setattr(warm, "warm", lambda *_: 1)
    assert warm.main(["triangles"]) == 0
    assert f"what auto chooses by is not kept: {fault}" in capsys.readouterr().out


def test_a_busy_machine_is_not_measured(fresh, monkeypatch):
    def busy(*_):
        raise calibrate.Unsteady("pc: an iteration took 1 ms, then 9")

    monkeypatch.setattr(calibrate, "measure", busy)
    assert constants.constants(CpuEngine) == SHIPPED and constants.kept() is None
    assert constants.why_not_kept(CpuEngine) == "pc: an iteration took 1 ms, then 9"
    with pytest.raises(gpop.GpopError, match="then 9"):
        constants.measured(CpuEngine)


@pytest.mark.parametrize("text", ["", "[]", '{"x": 1}', "{"])
def test_what_cannot_be_read_counts_as_not_kept(fresh, tmp_path, text):
    (tmp_path / "gpop").mkdir()
    (tmp_path / "gpop" / "constants.json").write_text(text)
    assert constants.kept() is None
    assert Constants.of(SHIPPED.told()) == SHIPPED


def test_the_engine_goes_by_them(fresh, monkeypatch):
    """The ratio, and bytes that the model counts; a forced mode and the paper's model have their own."""
    other = SHIPPED._replace(ratio=3.5, probe=5, cursor=77)
    monkeypatch.setattr(constants, "kept", lambda: other)
    seen = []
    prepare = CpuEngine._prepare

    def note(self):
        prepare(self)
        seen.append((self.ratio, self.sizes.probe, self.sizes.cursor))

    monkeypatch.setattr(CpuEngine, "_prepare", note)
    for options in ({}, {"ratio": 1.5}, {"model": "paper"}, {"mode": "sc"}):
        program = Smallest(gpop.Graph.from_edges([0, 1], [1, 2]))
        program.label = np.arange(3, dtype=np.uint32)
        gpop.run(program, **options)
    shipped = SHIPPED.ratio, SHIPPED.probe, SHIPPED.cursor
    assert seen == [(3.5, 5, 77), (1.5, 5, 77), (SHIPPED.ratio, 0, 0), shipped]


class Noisy:
    """An engine whose iterations take what they are told to."""

    def __init__(self, seconds):
        self.seconds, self.asked = seconds, 0

    def __call__(self, plan):
        return self

    def prepare(self):
        pass

    def load(self, sources, rows):
        pass

    def iterate(self):
        self.asked += 1
        row = np.zeros((1, len(COLUMNS) - 1))
        row[0, SCATTER_AT] = self.seconds(self.asked)
        return row

    def finish(self):
        pass


def test_a_busy_machine_is_measured_for_longer_and_given_up_in_the_end():
    graph, modes = gpop.Graph.from_edges([0, 1], [1, 2]), len(calibrate.MODES)
    quiet = Noisy(lambda asked: 1.0)
    calibrate.iterations(quiet, graph, 1)
    assert quiet.asked == modes * (calibrate.ROUNDS + 1)
    busy = Noisy(lambda asked: 1.0 if (asked - 1) // modes % 5 == 0 else 2.0 + asked)
    assert calibrate.iterations(busy, graph, 1)["pc"][0] == 1.0
    assert quiet.asked < busy.asked < modes * calibrate.MOST_ROUNDS
    expected = "expected 1.25 times the fastest at most; measure when nothing else runs on this machine$"
    with pytest.raises(calibrate.Unsteady, match=expected):
        calibrate.iterations(Noisy(lambda asked: 1.5**asked), graph, 1)


@pytest.mark.slow
def test_measuring_gives_constants_of_their_order(monkeypatch):
    monkeypatch.setattr(calibrate, "STEADY", 1e9)
    monkeypatch.setattr(calibrate, "SAMPLES", (("rmat", {"scale": 12}), ("uniform", {"scale": 13})))
    found = calibrate.measure(CpuEngine, 2)
    for name, value in found.told().items():
        assert value > 0, name


def test_a_large_graph_has_them_measured_but_not_by_ranks(fresh, monkeypatch):
    monkeypatch.setattr("gpop.cpu.preparation.LARGE_EDGES", 2)
    asked = []
    monkeypatch.setattr(
        "gpop.cpu.preparation.constants", lambda engine_of=None: asked.append(engine_of) or SHIPPED
    )

    class Rank(CpuEngine):
        alone = False

    for edges, kind in ((1, CpuEngine), (2, CpuEngine), (2, Rank)):
        program = Smallest(gpop.Graph.from_edges([0, 1][:edges], [1, 2][:edges], n=3))
        program.label = np.arange(3, dtype=np.uint32)
        kind(decide(program, threads=1)).prepare()
    assert asked == [None, CpuEngine, None]
