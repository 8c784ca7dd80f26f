"""Apps in processes of their own: what starting costs, Ctrl-C, pipes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gpop.generate import generate
from tests.cli.commands import start


def test_a_process_of_its_own(road, tmp_path):
    good = start("gpop.apps.sssp", road, "--source", 0, "--output", tmp_path / "d.npy")
    assert (good.returncode, good.stderr) == (0, "")
    assert np.load(tmp_path / "d.npy")["distance"][0] == 0
    bad = start("gpop.apps.sssp", road, "--source", 5000)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert re.fullmatch(r"gpop: vertex 5000 is not in graph road; its ids: 0\.\.179\n", bad.stderr)


def test_more_threads_than_cores(road):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    threads = (os.cpu_count() or 1) + 3
    done = start("gpop.apps.bfs", road, "--threads", threads, "--mode", "pc", "--verify", env=environment)
    assert done.returncode == 0, done.stderr
    assert f"{threads} threads" in done.stdout


STARTED = """
import sys
from numba.core import event
from gpop.apps import sssp
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
code = sssp.main(sys.argv[1:])
print("compiled", len(compiled.buffer))
print("loaded", *sys.modules)
sys.exit(code)
"""
"""An app that reports what its start has cost: what was compiled, and which modules were imported."""

SLOW_MODULES = {
    "cupy",
    "igraph",
    "matplotlib",
    "networkit",
    "networkx",
    "pandas",
    "polars",
    "pyarrow",
    "tqdm",
}


def test_second_run_of_an_app_compiles_nothing_and_imports_little(road, tmp_path):
    def run():
        done = subprocess.run(
            [sys.executable, "-c", STARTED, road], capture_output=True, text=True, timeout=300, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )  # fmt: skip
        compiled, loaded = done.stdout.splitlines()[-2:]
        return int(compiled.split()[1]), set(loaded.split()[1:])

    assert run()[0] > 0  # the listener hears of what is compiled
    compiled, loaded = run()
    assert compiled == 0
    assert loaded & SLOW_MODULES == set()
    assert not any(name.startswith("gpop.gpu") for name in loaded)


@pytest.mark.slow
def test_the_kernels_of_the_app_and_of_the_function_are_the_same(road, tmp_path):
    """The app run as a script finds what a call from Python has compiled, and the other way round."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    assert start("gpop.apps.bfs", road, env=environment).returncode == 0
    compiled = sorted(tmp_path.rglob("*.nbc"))
    call = f"import gpop; gpop.bfs(gpop.load({str(road)!r}, weighted=False), 0)"
    subprocess.run([sys.executable, "-c", call], env=environment, check=True, timeout=300)
    assert sorted(tmp_path.rglob("*.nbc")) == compiled


def test_ctrl_c_is_one_line_and_exit_code_130(tmp_path):
    path = tmp_path / "long.bin"
    generate("chain", vertices=2_000_000).save(path)
    command = [sys.executable, "-m", "gpop.apps.bfs", path, "--source", "0", "--rounds", "1000", "--layouts"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob("*.layout")):  # it is kept right before the first round
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "gpop: interrupted\n")


def test_output_into_a_closed_pipe(road):
    command = f"{sys.executable} -m gpop.apps.pagerank {road} --rounds 1 | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""


@pytest.mark.parametrize("encoding, shown", [("ascii", r"\xe9t\xe9"), ("latin-1", "\xe9t\xe9")])
def test_names_that_the_output_cannot_hold_are_escaped(tmp_path, encoding, shown):
    path = tmp_path / "names.txt"
    path.write_text("été hiver\nhiver été\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": f"{encoding}:strict"}
    done = start("gpop.apps.pagerank", path, "--rounds", 1, env=environment, encoding=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout
