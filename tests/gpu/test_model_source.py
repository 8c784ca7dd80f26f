"""The emitted model says what the model in Python says; compiled for the host."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from gpop.gpu.emit import semantics
from gpop.gpu.model_source import model_source
from gpop.gpu.strategies import GPU_STRATEGIES
from gpop.model.choosers import prefers_bins
from gpop.model.gpu_sizes import DeviceSizes, Part
from tests.gpu.host import PRELUDE

FUNCTIONS = list(dict.fromkeys(strategy.bytes for strategy in GPU_STRATEGIES.values()))
ENTRY = """
extern "C" double {name}_(const double* part, const long long* sizes) {{
  model::Part given; model::DeviceSizes with;
  std::memcpy(&given, part, sizeof(given)); std::memcpy(&with, sizes, sizeof(with));
  return model::{name}(given, with);
}}
"""
CHOOSER = """
extern "C" int prefers_bins_(double edges, double pushed, double binned, double ratio) {
  return model::prefers_bins(edges, pushed, binned, ratio);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    folder = tmp_path_factory.mktemp("model")
    text = [PRELUDE, semantics(), model_source((*FUNCTIONS, prefers_bins)), CHOOSER]
    text += [ENTRY.format(name=function.__name__) for function in FUNCTIONS]
    (folder / "model.cpp").write_text("\n".join(text))
    command = [compiler, "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*command, "model.cpp", "-o", "model.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "model.so"))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_bytes(library, function):
    emitted, rng = getattr(library, f"{function.__name__}_"), np.random.default_rng(11)
    emitted.restype = ctypes.c_double
    for _ in range(200):
        whole = rng.integers(1, 10**6, 3).astype(float)
        part = Part(
            *(np.floor(whole[:2] * rng.random(2))),
            *whole,
            rng.integers(0, 100),
            *(np.floor(whole[:2] * rng.random(2))),
        )
        sizes = DeviceSizes(*rng.integers(0, 33, len(DeviceSizes._fields)).tolist())
        sizes = sizes._replace(early=int(rng.integers(0, 2)))
        found = emitted((ctypes.c_double * len(part))(*part), (ctypes.c_longlong * len(sizes))(*sizes))
        assert found == pytest.approx(float(function(part, sizes)), rel=1e-12)


def test_choice(library):
    emitted = library.prefers_bins_
    emitted.argtypes = [ctypes.c_double] * 4
    for given in ((9, 100, 200, 2), (9, 100, 201, 2), (0, 1, 0, 2), (1, 0, 0, 0)):
        assert bool(emitted(*given)) == prefers_bins(*given)
