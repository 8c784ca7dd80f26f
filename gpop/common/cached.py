"""Compiled functions that are kept on disk, and are never stale: the one way to say ``cache=True``.

Numba finds a kept kernel by the name, place and content of the file that it is written in. A kernel also
holds what other files have given it: functions that were inlined, constants, the options it was compiled
with. So a kernel is kept under a name that ends in a hash of its own file and of every file of the package
that this one imports, directly or through others: what it can have taken something from. Any edit there
gives another name.

A kernel that was compiled once for some kinds of arguments is run from its machine code (machine_code.py),
without Numba; Numba's own dispatcher stands behind it for all that is not kept so.

Imports are read off the lines that begin with ``from`` or ``import`` at the left margin (globals, which is
what Numba compiles in, come from nowhere else), and off what is imported ``Later`` (deferred.py); a file is
read once per process. Imports of a package that is not gpop are followed inside that package and into gpop.

Processes may compile a kernel at the same time, each for other types. Numba numbers what it keeps of a
kernel, 1, 2, ..., and two that find no number taken would put their code into the same file: the next process
would find one's code under the types of the other. So a file's name is no number here.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from gpop.common.kernel import Kernel
from gpop.common.numba_version import version

_folders = {"gpop": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
"""Folder of every package whose imports are followed."""


class _Source(NamedTuple):
    digest: bytes
    imports: tuple[str, ...]


def cached(function: Callable | None = None, /, **options: Any) -> Any:
    """Decorator: compile with Numba when first called, without the GIL, and keep the result on disk.

    ``options`` are those of ``numba.njit``.
    """
    if function is None:
        return lambda function: cached(function, **options)
    package = function.__module__.partition(".")[0]
    if hasattr(sys.modules.get(package), "__path__"):
        _folders.setdefault(package, sys.modules[package].__path__[0])
    name, inside = function.__qualname__, "<locals>" in function.__qualname__
    function.__qualname__ = f"{name}_{source_key(function.__code__.co_filename)}"
    return Kernel(function, options, named=not inside)  # what a function makes may differ from call to call


def keep(function: Callable, name: str, **options: Any) -> Kernel:
    """The same under a name that stands for all that goes into the function (`source_key` among it)."""
    function.__qualname__ = name
    return Kernel(function, options, named=True)


@cache
def entry_of(kernel: Kernel, *kinds: Any) -> Callable:
    """A kernel for arguments of these kinds, compiled or loaded. To find out kinds takes longer than to call.

    It takes what it is given for what the kinds say.
    """
    return kernel.compile(kinds)


@cache
def source_key(file: str) -> str:
    """Key of a file, of all that it imports from the packages above, of Numba's version and Python's."""
    found, waiting = {}, [*_read(file).imports]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = source = _read(path)
            waiting += source.imports
    digest = hashlib.sha256(f"{version()} {sys.version_info[:2]}".encode())
    for source in (_read(file), *(found[path] for path in sorted(found))):
        digest.update(source.digest)
    return digest.hexdigest()[:16]


@cache
def _read(file: str) -> _Source:
    with open(file, "rb") as stream:
        text = stream.read()
    imports = []
    for package, folder in _folders.items():
        for keyword in ("from", "import"):
            for line in text.split(f"\n{keyword} {package}".encode())[1:]:
                imports += _files(line, folder)
        for name in text.split(f'Later("{package}'.encode())[1:]:
            imports += _files(name.partition(b'"')[0], folder)
    return _Source(hashlib.sha256(text).digest(), tuple(imports))


def _files(line: bytes, folder: str) -> list[str]:
    """Files that an import can mean; ``line`` is the text from the end of the package's name on."""
    module, _, names = line.partition(b"\n")[0].decode().partition(" import ")
    path = folder + module.split(" as ")[0].strip().replace(".", os.sep)
    if os.path.isfile(path + ".py"):
        return [path + ".py"]
    if names.startswith("("):
        names = line.partition(b"(")[2].partition(b")")[0].decode()
    # What a package gives may be modules.
    parts = [name.split()[0] for name in names.split(",") if name.strip()]
    files = [os.path.join(path, f"{name}.py") for name in ("__init__", *parts)]
    return [file for file in files if os.path.isfile(file)]
