"""``perf gpu-tuning``: contenders are what they are called, and what ncu prints becomes lines."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from gpop.generate import generate
from gpop.gpu import kernel, limits
from perf import gpu_tuning
from perf.__main__ import main
from tests.gpu.emulator import Kernel, emulated


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
    apps = gpu_tuning.runs(graph)
    monkeypatch.setattr(gpu_tuning, "runs", lambda graph: {"bfs": apps["bfs"]})
    monkeypatch.setattr(gpu_tuning.statistics, "median", lambda seconds: 1.0 + float(np.sum(seconds)))
    with emulated():
        lines = gpu_tuning.compare(graph, 1)
        assert limits.BLOCK_THREADS == 32
    assert [line[:38].strip() for line in lines] == ["", *(what.about for what in gpu_tuning.TRIED)]
    assert set(seen) == {(1024, 1), (512, 2)}
    assert lines[1].split()[-3:] == ["1.00", "64", "8"]


def test_counters_of_ncu_become_lines(monkeypatch):
    names = [*gpu_tuning.METRICS][:2]
    said = 'ready\n"ID","Metric Name","Metric Value"\n' + "".join(f'"0","{name}","41.5"\n' for name in names)
    monkeypatch.setattr(gpu_tuning.shutil, "which", lambda name: "/bin/ncu")
    monkeypatch.setattr(
        subprocess, "run", lambda *given, **more: subprocess.CompletedProcess(given, 0, said, "")
    )
    lines = gpu_tuning.profile(22)
    assert len(lines) == len(gpu_tuning.METRICS)
    assert [line.split()[-1] for line in lines[:3]] == ["41.5", "41.5", "-"]


@pytest.mark.parametrize("code", [1, 0])
def test_an_ncu_that_may_not_count_is_said_in_one_line(code, monkeypatch):
    monkeypatch.setattr(gpu_tuning.shutil, "which", lambda name: "/bin/ncu")
    failed = subprocess.CompletedProcess((), code, "==ERROR== ERR_NVGPUCTRPERM\n", "")
    monkeypatch.setattr(subprocess, "run", lambda *given, **more: failed)
    with pytest.raises(gpu_tuning.UsageError, match="ERR_NVGPUCTRPERM"):
        gpu_tuning.profile(22)


def test_a_wrong_argument_is_one_line(capsys):
    assert main(["gpu-tuning", "--rounds", "0"]) == 2
    assert capsys.readouterr().err == "gpop: --rounds 0: expected 1 or more\n"
