"""Compiles emitted programs for the host, so that they can be compared with Numba without a GPU.

All programs go into one shared library, each in a namespace of its own; every function gets a C entry
that walks over the vertices.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpop.gpu.c_types import C_NAMES
from gpop.gpu.emit import semantics
from gpop.gpu.emitted import Emitted

PRELUDE = """
#include <cmath>
#include <cstring>
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
static inline float __int_as_float(int bits) { float value; std::memcpy(&value, &bits, 4); return value; }
static inline double __longlong_as_double(long long bits)
{ double value; std::memcpy(&value, &bits, 8); return value; }
"""

# What C++ leaves undefined is reported on stderr ("runtime error"), also where it comes out right.
SANITIZE = "-fsanitize=signed-integer-overflow,shift,float-cast-overflow"


def compile_host(programs: dict[str, tuple[Emitted, np.dtype | None]], folder: Path) -> ctypes.CDLL:
    """One library of all programs; ``<name>_<function>(state, count, values, weights, answers)``."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    parts = [PRELUDE, semantics()]
    for name, (emitted, weight) in programs.items():
        parts.append(f"namespace {name} {{\n{emitted.source}\n}}")
        parts += [_entry(name, emitted, weight, function) for function in emitted.defined]
    source, library = folder / "emitted.cpp", folder / "emitted.so"
    source.write_text("\n".join(parts))
    command = [compiler, "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC", SANITIZE]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def _entry(name: str, emitted: Emitted, weight: np.dtype | None, function: str) -> str:
    message, gathered = (C_NAMES[d.name] for d in (emitted.message_dtype, emitted.gathered_dtype))
    value = message if function == "applyWeight" else gathered
    answer = {"scatterFunc": message, "applyWeight": gathered, "priorityFunc": "long long"}.get(
        function, "bool"
    )
    edge = C_NAMES[np.dtype(weight).name] if weight is not None else "char"
    given = {"gatherFunc": "values[i], i", "applyWeight": "values[i], weights[i]"}.get(function, "i")
    return f"""
extern "C" void {name}_{function}(
    {name}::State* state, unsigned count, {value}* values, {edge}* weights, {answer}* answers)
{{
    for (unsigned i = 0; i < count; ++i) answers[i] = {name}::{function}(*state, {given});
}}
"""
