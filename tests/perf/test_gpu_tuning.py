"""``perf gpu-tuning``: contenders are what they are called, and what ncu prints becomes lines."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpop.generate import generate
from gpop.gpu import kernel, limits
from perf import gpu_tuning
from perf.__main__ import main
from tests.gpu.emulator import emulated
from tests.gpu.host_kernels import Kernel


def test_contenders_differ_in_blocks_and_nothing_is_left_of_them(monkeypatch):
    graph, seen = generate("rmat", scale=7, weights=(1, 9)), []
    compiled = kernel.compile_kernel

    def watched(source):
        seen.append((limits.BLOCK_THREADS, gpu_tuning.device.current_device().multiprocessors))
        return compiled(
            source.replace(f"#define BLOCK_THREADS {limits.BLOCK_THREADS}", "#define BLOCK_THREADS 32")
        )

    monkeypatch.setattr(gpu_tuning.prepared, "compile_kernel", watched)
    monkeypatch.setattr(Kernel, "num_regs", 64, raising=False)
    monkeypatch.setattr(Kernel, "local_size_bytes", 8, raising=False)
    monkeypatch.setattr(gpu_tuning, "TRIED", gpu_tuning.TRIED[:1] + gpu_tuning.TRIED[2:3])
    monkeypatch.setattr(gpu_tuning.statistics, "median", lambda seconds: 1.0 + float(np.sum(seconds)))
    with emulated():
        lines = gpu_tuning.compare(graph, 1, ["bfs"])
        assert limits.BLOCK_THREADS == 32
    assert [line[:38].strip() for line in lines] == ["", *(what.about for what in gpu_tuning.TRIED)]
    assert set(seen) == {(1024, 1), (512, 2)}
    assert lines[1].split()[-3:] == ["1.00", "64", "8"]


def test_what_kernels_say_otherwise_is_what_they_say():
    kernels = "".join(path.read_text() for path in Path(kernel.__file__).with_name("kernels").glob("*.cuh"))
    for what in gpu_tuning.TRIED:
        for said, _ in what.text:
            assert kernels.count(said) == 1, what.about


def says(monkeypatch, known, counted, code=0):
    """An ncu that knows these counters, and prints so when it has counted."""
    monkeypatch.setattr(gpu_tuning.shutil, "which", lambda name: "/bin/ncu")
    asked = []

    def run(command, **more):
        asked.append(command)
        query = "--query-metrics" in command
        text = "".join(f"{name.split('.')[0]}   Counter\n" for name in known) if query else counted
        return subprocess.CompletedProcess(command, 0 if query else code, text, "")

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_counters_of_ncu_become_lines_and_those_that_it_does_not_know_are_not_asked_for(monkeypatch):
    names = [*gpu_tuning.METRICS]
    said = 'ready\n"ID","Metric Name","Metric Value"\n' + "".join(
        f'"0","{name}","41.5"\n' for name in names[:2]
    )
    asked = says(monkeypatch, names[:4], said)
    lines = gpu_tuning.profile(22)
    assert len(lines) == len(gpu_tuning.METRICS)
    assert [line.split()[-1] for line in lines[:3]] == ["41.5", "41.5", "-"]
    assert asked[1][asked[1].index("--metrics") + 1] == ",".join(names[:4])


@pytest.mark.parametrize("code", [1, 0])
def test_an_ncu_that_may_not_count_is_said_in_one_line(code, monkeypatch):
    says(monkeypatch, gpu_tuning.METRICS, "==ERROR== ERR_NVGPUCTRPERM\n", code)
    with pytest.raises(gpu_tuning.UsageError, match="ERR_NVGPUCTRPERM"):
        gpu_tuning.profile(22)


def test_a_wrong_argument_is_one_line(capsys):
    assert main(["gpu-tuning", "--rounds", "0"]) == 2
    assert capsys.readouterr().err == "gpop: --rounds 0: expected 1 or more\n"
