"""Machine code of kernels, kept in files and run without Numba.

Numba's own cache holds types and intermediate code beside the machine code, and to read it all of Numba is
imported. This one holds the object file that LLVM made for one list of kinds of arguments; LLVM links it into
the process again, and Numba's entry in it, which takes Python's arguments, becomes a function of Python as in
Numba (an extension module does that, which is loaded by itself). The code is the same, and so is the call.

File: a line of JSON (what to call, the names that it wants of others, the hash of what follows), then the
object file. Its name ends in a hash of the kinds and of all that decides what LLVM makes of a kernel: the
versions of Numba, llvmlite and Python, and the processor. The kernel's own name stands for its sources
(cached.py). What cannot be kept, or not be linked, is left to Numba: code that takes values of Python from
its environment, or that is no ELF file; everything where Numba is told by its environment
or a file to compile otherwise.
"""

from __future__ import annotations

import builtins
import ctypes
import hashlib
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, NamedTuple

from gpop.common.deferred import Later
from gpop.common.elf import undefined_names
from gpop.common.errors import GraphFileError
from gpop.common.interrupts import held_back
from gpop.common.kernel_folder import code_folder
from gpop.common.kinds import Kind
from gpop.common.numba_version import IS_TESTED, folder, version
from gpop.common.replacing import replacing

SUFFIX, NAME = ".code", 48
"""Of a file, and how much of a kernel's name its own begins with."""

HARMLESS_SETTINGS = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")
"""Settings of Numba that change nothing of the code."""

SETTINGS_FILE = ".numba_config.yaml"

llvm = Later("llvmlite.binding")
_one_at_a_time = RLock()
_forever: list[Any] = []
"""What the code uses as long as the process lives."""


class Symbols(NamedTuple):
    """What an object file gives: ``entry`` is called; ``environment`` is where Numba's entries look for
    the one of theirs, empty for code that is called by its address."""

    entry: str
    environment: str = ""


def store(place: Path | None, symbols: Symbols, code: bytes) -> None:
    """Keep the code, if its place can be written."""
    wanted = undefined_names(code)
    if place is None or wanted is None:
        return
    head = {"symbols": symbols, "wanted": wanted, "hash": hashlib.sha256(code).hexdigest()}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as temporary:
            temporary.write_bytes(json.dumps(head).encode() + b"\n" + code)
    except (OSError, GraphFileError):  # a full disk, or a folder of somebody else: the next process compiles
        pass


def load_function(place: Path | None, name: str) -> Callable | None:
    """The kept function that takes Python's arguments, or None."""
    found = _load(place)
    if found is None:
        return None
    address, environment = found
    python = _python_part()
    held = python.Environment({})
    ctypes.c_void_p.from_address(environment).value = id(held)
    _forever.append(held)
    about = f"compiled wrapper for {name!r}"
    return python.make_function(sys.modules[__name__], name, about, address, held, ())


def load_address(place: Path | None) -> int | None:
    """The address of the kept function that is called by it, or None."""
    found = _load(place)
    return found and found[0]


def place_of(name: str, file: str, kinds: tuple[Kind, ...]) -> Path | None:
    """Where the code of a kernel for these kinds is kept; None where none is."""
    if not _is_usual():
        return None
    place = code_folder(file)
    told = f"{name} {file} {kinds} {_machine()}"
    digest = hashlib.sha256(told.encode()).hexdigest()[:24]
    return place and place / f"{name[:NAME]}-{digest}{SUFFIX}"


def may_be_kept(name: str, file: str) -> bool:
    """Whether there is a kernel whose name begins so, for kinds that nobody has said."""
    place = code_folder(file)
    return _is_usual() and place is not None and any(place.glob(f"{name[:NAME]}*{SUFFIX}"))


def _load(place: Path | None) -> tuple[int, int] | None:
    """Addresses of what is called and of its environment (0: it has none)."""
    if place is None:
        return None
    try:
        head, _, code = place.read_bytes().partition(b"\n")
        told = json.loads(head)
        symbols, wanted, hash = Symbols(*told["symbols"]), told["wanted"], told["hash"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if hash != hashlib.sha256(code).hexdigest():
        return None
    with _one_at_a_time, held_back():
        try:
            _give_names()
        except (OSError, ImportError, AttributeError):
            return None
        return _link(symbols, wanted, code)


def _link(symbols: Symbols, wanted: list[str], code: bytes) -> tuple[int, int] | None:
    """In an engine of its own: two files may have functions of the same name that are not the same."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), reloc="default", codemodel="jitdefault", jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    if not all(map(llvm.address_of_symbol, wanted)):  # from an engine on, those of the process are known
        return None
    file = llvm.ObjectFileRef.from_data(code)
    engine.add_object_file(file)
    engine.finalize_object()
    entry = engine.get_function_address(symbols.entry)
    environment = engine.get_global_value_address(symbols.environment) if symbols.environment else 0
    engine.detach()  # threads may be in the code when the interpreter ends
    _forever.append((engine, file, code))
    return (entry, environment) if entry and (environment or not symbols.environment) else None


@cache
def _give_names() -> None:
    """Tell LLVM where what Numba's entries call is, as Numba does."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol("_Py_NoneStruct", id(None))
    for part in (_python_part(), _part("_helperlib")):
        for name, address in part.c_helpers.items():
            llvm.add_symbol(f"numba_{name}", address)
    for name, address in _part("core/runtime/_nrt_python").c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    for name, error in vars(builtins).items():
        if isinstance(error, type) and issubclass(error, BaseException):
            llvm.add_symbol(f"PyExc_{name}", id(error))


@cache
def _python_part() -> ModuleType:
    return _part("_dynfunc")


def _part(name: str) -> ModuleType:
    """An extension module of Numba's, without Numba; it needs nothing of it."""
    for suffix in EXTENSION_SUFFIXES:
        path = os.path.join(folder() or "", name + suffix)
        if os.path.exists(path):
            spec = spec_from_file_location(f"numba.{name.replace('/', '.')}", path)
            part = module_from_spec(spec)
            spec.loader.exec_module(part)
            return part
    raise ImportError(f"no {name} in {folder()}")


@cache
def _is_usual() -> bool:
    """Whether Numba is a version that is known, and compiles as it does where nobody asks for anything."""
    asked = [name for name in os.environ if name.startswith("NUMBA_") and name not in HARMLESS_SETTINGS]
    return IS_TESTED and not asked and not os.path.exists(SETTINGS_FILE)


@cache
def _machine() -> str:
    import llvmlite

    with held_back():
        processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return f"{version()} {llvmlite.__version__} {sys.implementation.cache_tag} {processor}"
