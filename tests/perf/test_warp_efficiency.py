"""``perf gather-formats --ncu``: launches are told apart, and what cannot be counted is one line."""

from __future__ import annotations

import json
import stat

import pytest

import gpop
from gpop.gpu import engine
from perf import hpgraph_steps
from perf.warp_efficiency import METRIC, main, measure, of_runs
from tests.gpu.emulator import emulated

NCU = """#!/bin/sh
while [ "$1" != "--log-file" ]; do shift; done
printf '"ID","Metric Name","Metric Value"\\n"0","{metric}","{lanes}"\\n' > "$2"
while [ $# -gt 1 ]; do shift; done
echo '[["bfs", "HYB", 1]]' > "$1"
"""


def test_ncu_is_asked(monkeypatch, tmp_path):
    program = tmp_path / "ncu"
    program.write_text(NCU.format(metric=METRIC, lanes=24))
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert measure("rmat:scale=5", 0) == {("bfs", "HYB"): 0.75}
    program.write_text("#!/bin/sh\necho no permission >&2\nexit 1\n")
    with pytest.raises(gpop.UsageError, match="nothing was counted: no permission"):
        measure("rmat:scale=5", 0)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(gpop.UsageError, match="no ncu on the PATH"):
        measure("rmat:scale=5", 0)


@pytest.mark.slow
def test_every_launch_is_of_a_run(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "SLICE_NS", 0)  # put back afterwards
    monkeypatch.setattr(engine.GpuEngine, "_launch", engine.GpuEngine._launch)
    with emulated():
        main("rmat:scale=6", "1", str(tmp_path / "runs"))
    told = json.loads((tmp_path / "runs").read_text())
    assert [(app, step) for app, step, _ in told] == [
        (app, step)
        for app in hpgraph_steps.APPS
        for step, (_, mode) in hpgraph_steps.steps_of(app).items()
        if mode != "auto"
    ]
    counts = [count for _, _, count in told]
    assert min(counts) >= 1
    assert len(of_runs([1.0] * sum(counts), told)) == len(told)
