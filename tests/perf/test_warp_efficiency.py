"""``perf gather-formats --ncu``: launches are told apart, and what cannot be counted is one line."""

from __future__ import annotations

import json
import stat

import pytest

import gpop
from gpop.generate import generate
from gpop.gpu import engine
from perf import hpgraph_steps
from perf.warp_efficiency import KERNELS, METRIC, counted, main, measure, of_runs
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


def test_launches_are_counted_whoever_makes_them():
    """Of the grid and of a cluster, of one block, and of a run that is done again."""
    ring, few = generate("grid", width=40, height=30), generate("grid", width=5, height=4)
    options = {"target": "gpu", "ratio": 1.0, "mode": "sc"}
    with emulated():
        for graph, names in ((ring, ["gpop_levels"]), (few, ["gpop_loop"])):
            with counted() as found:
                for _ in range(3):
                    gpop.bfs(graph, 0, **options)
            assert [*found] == names * 3 and {*found} <= {*KERNELS}


@pytest.mark.slow
def test_every_launch_is_of_a_run(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "SLICE_NS", 0)  # put back afterwards
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
