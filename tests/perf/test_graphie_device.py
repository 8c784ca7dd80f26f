"""``perf graphie --gpu``: all contenders on the emulator have one answer; sentences say what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from gpop.gpu import calibrate, limits
from perf import graphie_device, graphie_gpu
from perf.graphie_device import GPOP, PLAIN, STREAMS, print_tables, sentences
from perf.graphie_ways import BOTH, EVERYTHING, WAYS
from tests.gpu.emulator import WARP, emulated
from tests.programs import random_graph


def test_sentences():
    most = STREAMS[0]
    seconds = {(name, most): 4.0 - place for place, name in enumerate(WAYS)}
    seconds |= {(PLAIN, 2): 2.0, (GPOP, 0): 0.25, (BOTH, 1): 3.0}
    assert list(WAYS) == [EVERYTHING, "OPT1", "OPT2", BOTH]
    said = sentences("bfs", seconds, seconds)
    assert said[:2] == [
        "as published: 0.50 of a plain stream's time (at most 1.0)",
        "gpop, streamed: 0.25 of the published one's time (at most 0.6)",
    ]
    assert said[2] == "OPT1 saves 25 % of the time, 25 % of the bytes (paper: 22-27 %)"
    assert said[4] == "both saves 75 % of the time, 75 % of the bytes (paper: 61 %)"
    assert said[5] == "32 streams are 3.00 times as fast as one (paper: more than 2)"
    assert said[6].startswith("all partitions 4000 ms, as published 1000 ms, gpop 250 ms; the paper's")


@pytest.mark.slow
def test_tables(monkeypatch, capsys):
    monkeypatch.setattr(graphie_gpu, "BLOCK", WARP)
    monkeypatch.setattr(graphie_gpu, "OPTIONS", ())
    monkeypatch.setattr(graphie_device, "STREAMS", (8, 2, 1))
    monkeypatch.setattr(limits, "PAGE_BYTES", 1024)
    monkeypatch.setattr(calibrate, "link_cost", lambda engine_of: 40.0)
    graph = random_graph(8, 2000, 60000).symmetrize()
    apps = ["bfs", "sssp", "cc"]
    with emulated():
        assert print_tables(graph, apps, 0.5, 1)
    said = capsys.readouterr().out
    assert "WRONG" not in said
    assert said.count(GPOP) == 2 * len(apps)  # in each table, and of the published scheme's time
    assert said.count(f"  {BOTH} ") == 3 * len(apps) + len(apps)
    monkeypatch.setattr(
        graphie_device, "streamed", lambda *_: graphie_device.Ran(1.0, 1, [], [], 1.0, np.ones(2))
    )
    with emulated():
        assert not print_tables(graph, ["bfs"], 0.5, 1)
    assert "WRONG" in capsys.readouterr().out
