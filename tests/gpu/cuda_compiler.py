"""Compiles CUDA source for an architecture without a GPU: nvcc where it is on the PATH, else the NVRTC wheel.

The wheels ``nvidia-cuda-nvrtc`` (and ``-cu12``) install a shared library under ``nvidia/``, used with ctypes.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpop.gpu.kernel import OPTIONS


@lru_cache(maxsize=1)
def nvrtc() -> ctypes.CDLL | None:
    """NVRTC of the wheel, if there is one."""
    spec = find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    found = [library for folder in folders for library in folder.glob("**/libnvrtc.so.*")]
    libraries = sorted(library for library in found if "alt" not in library.name)
    return ctypes.CDLL(str(libraries[-1])) if libraries else None


def compile_cuda(source: str, architecture: str, folder: Path) -> str:
    """What the compiler has to say about a source: empty when it is content. Skips without a compiler."""
    if shutil.which("nvcc"):
        return _with_nvcc(source, architecture, folder)
    if nvrtc() is not None:
        return _with_nvrtc(source, architecture)
    pytest.skip("no CUDA compiler: neither nvcc nor the wheel nvidia-cuda-nvrtc")


def _with_nvcc(source: str, architecture: str, folder: Path) -> str:
    path = folder / f"kernel_{architecture}.cu"
    path.write_text(source)
    command = ["nvcc", f"-arch={architecture}", "-cubin", *OPTIONS, "-Werror", "all-warnings"]
    done = subprocess.run([*command, "-o", path.with_suffix(".cubin"), path], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode or "warning" in done.stderr else ""


def _with_nvrtc(source: str, architecture: str) -> str:
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    options = [f"--gpu-architecture={architecture}".encode(), *[option.encode() for option in OPTIONS]]
    failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    said = log.value.decode()
    return said if failed or "warning" in said else ""
