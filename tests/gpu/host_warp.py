"""A warp on the host: kernels/queue.cuh and in_edges.cuh with 32 fibres for lanes, so it runs without a GPU.

Lanes run one after the other from one collective operation to the next. Each operation notes its line; lanes
that meet in different ones, or that end while others wait, are a fault (on a GPU: undefined).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gpop
from gpop.gpu import kernel, limits, traits
from gpop.gpu.c_types import c_name
from gpop.gpu.emit import emit, semantics
from gpop.program.lowering import lower
from tests.gpu.host import PRELUDE


class Warp:
    """One program's owners, compiled for the host."""

    def __init__(self, cls: type[gpop.Program], weight: np.dtype | None, folder: Path) -> None:
        compiler = shutil.which("g++")
        if compiler is None:
            pytest.skip("no g++ on this machine")
        self.cls, self.lowered = cls, lower(cls)
        self.emitted = emitted = emit(cls, self.lowered, weight)
        types = {"Message": emitted.message_dtype}
        types |= dict.fromkeys(("Gathered", "Total"), emitted.gathered_dtype)
        types["Weight"] = np.dtype(np.uint32 if weight is None else weight)
        values = {
            "ALL_ACTIVE": 0, "WEIGHTED": int(weight is not None), "HUB": limits.HUB,
            "COMBINE": 0, "ADD": traits.COMBINES["add"],
            "ENDS_EARLY": int("needsFunc" in emitted.defined),
        }  # fmt: skip
        parts = [PRELUDE, semantics(), emitted.source]
        if not values["ENDS_EARLY"]:
            parts.append("template <class Self> bool needsFunc(Self&, unsigned) { return true; }")
        parts += [f"typedef {c_name(dtype)} {name};" for name, dtype in types.items()]
        parts += [f"#define {name} {value}" for name, value in values.items()]
        kernels = Path(kernel.__file__).parent / "kernels"
        (folder / "program.hpp").write_text("\n".join(parts) + "\n")
        library, kernels = folder / "warp.so", Path(kernel.__file__).parent / "kernels"
        command = [compiler, "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
        source = Path(__file__).with_name("host_warp.cpp")
        subprocess.run([*command, f"-I{folder}", f"-I{kernels}", str(source), "-o", str(library)], check=True)
        self.call = ctypes.CDLL(str(library)).run
        self.call.argtypes = (*[ctypes.c_void_p] * 3, ctypes.c_uint, ctypes.c_bool)

    def run(self, fields: dict[str, np.ndarray], graph: dict, space: dict, called: int, queued: bool) -> int:
        """0 if all went well; fields and ``space`` are written to."""
        state = np.zeros(1, self.emitted.state_dtype)
        for name in self.lowered.fields:
            state[name] = fields[name].ctypes.data
        return self.call(
            state.ctypes.data, _struct(GRAPH, graph).ctypes.data, _struct(SPACE, space).ctypes.data,
            called, queued,
        )  # fmt: skip


GRAPH = np.dtype(
    {"names": ["n", "hubs", "in_indptr", "in_indices", "in_weights", "hub_vertex", "hub_first", "has_in"],
     "formats": ["i8", "u4", *["u8"] * 6], "offsets": [0, 8, 16, 24, 32, 40, 48, 56]}
)  # fmt: skip
SPACE = np.dtype([(name, "u8") for name in
                  ("vertex_value", "active", "activated", "waiting", "waiting_count", "called")])  # fmt: skip


def _struct(dtype: np.dtype, values: dict) -> np.ndarray:
    found = np.zeros(1, dtype)
    for name, value in values.items():
        found[name] = value.ctypes.data if isinstance(value, np.ndarray) else value
    return found
