"""Without CuPy or a device: one clear line where the GPU is asked for, and nothing of it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpop
from gpop.gpu import device
from tests.gpu.emulator import emulated
from tests.programs import Smallest, random_graph

ROOT = Path(__file__).resolve().parents[2]
NEEDS_CUPY = "target 'gpu' needs CuPy: pip install cupy-cuda13x (or cupy-cuda12x for CUDA 12)"


@pytest.fixture
def without_cupy(monkeypatch):
    """As if CuPy was not installed."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    device.cupy.cache_clear()
    yield
    device.cupy.cache_clear()


class Runtime:
    """What CuPy finds on a machine without a usable driver, or without a device."""

    class CUDARuntimeError(RuntimeError):
        pass

    def __init__(self, count):
        self.count = count

    def getDeviceCount(self):
        if self.count is None:
            raise self.CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return self.count


@pytest.fixture
def cupy_finds(monkeypatch):
    """A CuPy that sees this many devices (None: the driver refuses)."""

    def pretend(count):
        module = type(sys)("cupy")
        module.cuda = type(sys)("cupy.cuda")
        module.cuda.runtime = Runtime(count)
        monkeypatch.setitem(sys.modules, "cupy", module)
        device.cupy.cache_clear()

    yield pretend
    device.cupy.cache_clear()


def test_a_run_without_cupy_is_one_line(without_cupy):
    assert not device.is_available()
    graph = random_graph(1, 50, 100)
    for call in (
        lambda: gpop.run(Smallest(graph), target="gpu"),
        lambda: gpop.bfs(graph, 0, target="gpu"),
        lambda: gpop.pagerank(graph, target="gpu"),
    ):
        with pytest.raises(gpop.UsageError) as error:
            call()
        assert str(error.value) == NEEDS_CUPY
    assert gpop.bfs(graph, 0).run.target == "cpu"  # the graph is as good as before


def test_a_run_without_a_device_is_one_line(cupy_finds):
    cupy_finds(None)
    with pytest.raises(gpop.UsageError) as error:
        gpop.bfs(random_graph(1, 50, 100), 0, target="gpu")
    assert str(error.value) == (
        "target 'gpu': no CUDA device (cudaErrorNoDevice: no CUDA-capable device is detected)"
    )
    cupy_finds(0)
    with pytest.raises(gpop.UsageError, match=r"^target 'gpu': no CUDA device$"):
        gpop.bfs(random_graph(1, 50, 100), 0, target="gpu")
    assert not device.is_available()
    cupy_finds(1)
    assert device.is_available()


def test_counters_are_refused_on_the_gpu():
    with pytest.raises(
        gpop.UsageError, match=r"^counters are counted on the CPU only: expected target 'cpu'$"
    ):
        gpop.run(Smallest(random_graph(1, 50, 100)), target="gpu", counters=True)


class DeviceArray:
    """What any library's array on a device looks like to us."""

    def __init__(self, n, dtype):
        self.shape, self.dtype = (n,), np.dtype(dtype)
        self.__cuda_array_interface__ = {"shape": self.shape, "typestr": self.dtype.str, "data": (0, False)}


def test_device_arrays_as_fields():
    program = Smallest(random_graph(1, 50, 100))
    array = DeviceArray(50, np.uint32)
    program.label = array
    assert program.label is array
    with pytest.raises(gpop.UsageError, match=r"^field label is a device array: expected target 'gpu'$"):
        gpop.run(program)
    for wrong in (DeviceArray(49, np.uint32), DeviceArray(50, np.int32)):
        with pytest.raises(gpop.UsageError, match=r"^field label: .*: expected uint32\(50,\)$"):
            program.label = wrong
    assert program.label is array


def test_memory_is_asked_for_before(monkeypatch):
    monkeypatch.setattr(device, "free_bytes", lambda: 3 << 30)
    device.require_device_memory(3 << 30, "this")
    with pytest.raises(gpop.NotEnoughMemory) as error:
        device.require_device_memory((3 << 30) + (1 << 29), "that")
    assert str(error.value) == "that needs 3.5 GiB on the device, 3.0 GiB are free"
    for more, said in (
        (1 << 20, "3.001 GiB on the device, 3.000"),
        (1, "3.000000001 GiB on the device, 3.000000000"),
    ):
        with pytest.raises(gpop.NotEnoughMemory, match=rf"^that needs {said} GiB are free$"):
            device.require_device_memory((3 << 30) + more, "that")


def test_the_limit_of_what_cupy_takes_is_kept():
    """As users set it, by ``set_limit`` or ``CUPY_GPU_MEMORY_LIMIT``; 0: there is none."""
    with emulated():
        module, pool = device.cupy(), SimpleNamespace(free_bytes=lambda: 300, used_bytes=lambda: 200)
        module.get_default_memory_pool = lambda: pool
        module.cuda.runtime.memGetInfo = lambda: (5000, 9000)
        for limit, free in ((0, 5300), (1000, 800), (100, 0), (9000, 5300)):
            pool.get_limit = lambda limit=limit: limit
            assert device.free_bytes() == free


def run_python(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT
    )


def test_the_command_line_says_it_in_one_line(tmp_path):
    """CuPy is made unimportable, so that this holds on a machine with a GPU too."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['cupy'] = None\n")
    command = [sys.executable, "-m", "gpop.apps.bfs", "data/karate.bin", "--target", "gpu"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gpop: {NEEDS_CUPY}\n"


def test_the_cpu_needs_nothing_of_the_gpu():
    done = run_python(
        "-c",
        "import sys, gpop\n"
        "import gpop.compare\n"
        "graph = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)\n"
        "gpop.bfs(graph, 0)\n"
        "print([name for name in sys.modules if name == 'cupy' or name.startswith(('cupy.', 'gpop.gpu'))])\n",
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_nobody_else_imports_cupy():
    """One place, gpop/gpu/device.py, and there inside a function."""
    found = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gpop").rglob("*.py")
        if re.search(r"^\s*(import|from) cupy", path.read_text(), re.MULTILINE)
    ]
    assert found == ["gpop/gpu/device.py"]


def test_no_dependency_pulls_cupy():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert not [name for name in project["dependencies"] if "cupy" in name]
    assert [name for name, needs in extras.items() if any("cupy" in need for need in needs)] == [
        "cuda12x",
        "cuda13x",
    ]
