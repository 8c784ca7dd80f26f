"""Machine code: a kernel that is kept runs without Numba, and what is kept is never run for anything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from gpop.common import machine_code
from gpop.common.cached import cached
from gpop.common.elf import undefined_names
from gpop.common.kinds import INT64, ArrayKind, NumberKind, StarKind, kind_of
from tests.quick import quick

KERNELS = """
from gpop.common.cached import cached
from gpop.common.inlined import KERNEL

@cached(inline="always")
def twice(x):
    return 2 * x

@cached(**KERNEL)
def total(values, weight):
    found = 0
    for value in values:
        found += twice(value) * weight
    return found

@cached
def inverse(values):
    if len(values) > 3:
        raise ValueError("too many")
    return 1 / values[1:].sum(), len(values)

@cached
def inverses(values):
    return 1 / values
"""

SCRIPT = """
import sys
import numpy as np
from kernels import inverse, inverses, total
values = np.array([1, 2, 4], np.{})
print(total(values, 3), *inverse(values[1:]), "numba" in sys.modules)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run a text beside the kernels in a process of its own; what it prints."""
    folder = tmp_path_factory.mktemp("machine_code")
    (folder / "kernels.py").write_text(KERNELS)

    def run(text: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, timeout=250,
            env={
                **os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
                "NUMBA_CACHE_DIR": str(folder / "jit"), **environment,
            },
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run.folder, run.kept = folder, []
    return run


@pytest.fixture
def kept(python):
    """The files that hold the code of `SCRIPT` for int32, made if they are not there.

    Before a test makes those of other kinds, whose names may come first.
    """
    assert python(SCRIPT.format("int32")).startswith("42 0.25 2")
    if not python.kept:
        python.kept += sorted((python.folder / "jit" / "gpop_code").glob("*.code"))
    return python.kept


def test_what_is_kept_runs_without_numba(python, kept):
    assert [file.name.partition("_")[0] for file in kept] == ["inverse", "total"]
    assert python(SCRIPT.format("int32")) == "42 0.25 2 False"


def test_what_a_function_makes_is_told_apart_by_numba(tmp_path, monkeypatch):
    """Their names are the same."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def adds(amount):
        @cached
        def add(x):
            return x + amount

        return add

    assert [adds(amount)(1) for amount in (1, 2, 1)] == [2, 3, 2]


@pytest.mark.slow
def test_other_kinds_of_arguments_are_compiled(python, kept):
    assert python(SCRIPT.format("uint8")) == "42 0.25 2 True"
    assert python(SCRIPT.format("uint8")) == "42 0.25 2 False"


@pytest.mark.slow
def test_numba_is_there_for_who_imports_it_later(python, kept):
    """The names that LLVM was told are then Numba's own."""
    more = "import numba\n@numba.njit\ndef three(x):\n    return [x, total(values, x)]\nprint(three(3))"
    assert python(SCRIPT.format("int32") + more).endswith("False\n[3, 42]")


def test_an_error_of_kept_code_is_that_of_the_kernel(python, kept):
    error = "\ntry:\n    inverse(np.ones(4, np.int32))\nexcept ValueError as error:\n    print(error)"
    assert python(SCRIPT.format("int32") + error).endswith("False\ntoo many")


@pytest.mark.slow
def test_an_array_that_is_returned_is_left_to_numba(python, kept):
    """To make one its code takes the type from Python."""
    more = "print(inverses(values).tolist(), 'numba' in sys.modules)"
    for _ in range(2):
        assert python(SCRIPT.format("int32") + more).endswith("False\n[1.0, 0.5, 0.25] True")


DAMAGES = {
    "short": lambda whole: whole[:-100],
    "no code": lambda whole: whole[:10],
    "empty": lambda whole: b"",
    "other code": lambda whole: whole.replace(b"ELF", b"ELG", 1),
}


@pytest.mark.parametrize("damage", quick(DAMAGES, "other code"))
def test_a_damaged_file_is_as_none(damage, python, kept):
    whole = kept[0].read_bytes()
    kept[0].write_bytes(DAMAGES[damage](whole))
    assert python(SCRIPT.format("int32")) == "42 0.25 2 True"
    assert kept[0].read_bytes() == whole  # made again


@pytest.mark.slow
def test_a_name_that_nobody_has_is_noticed(python, kept):
    """LLVM would end the process."""
    head, _, code = kept[0].read_bytes().partition(b"\n")
    told = json.loads(head)
    told["wanted"].append("nobody_has_this")
    kept[0].write_bytes(json.dumps(told).encode() + b"\n" + code)
    assert python(SCRIPT.format("int32")) == "42 0.25 2 True"


@pytest.mark.slow
def test_where_numba_is_told_to_compile_otherwise_it_does(python, kept):
    assert python(SCRIPT.format("int32"), NUMBA_OPT="1") == "42 0.25 2 True"


def test_the_place_tells_kinds_and_machines_apart(monkeypatch):
    def place(kinds) -> Path | None:
        return machine_code.place_of("kernel", __file__, kinds)

    kinds = [
        (INT64,),
        (NumberKind("uint32"),),
        (INT64, INT64),
        (ArrayKind("int64"),),
        (StarKind("int64", 1),),
    ]
    kinds += [
        (ArrayKind("int64", layout="F"),),
        (ArrayKind("int64", aligned=False),),
        (ArrayKind("int64", 2),),
    ]
    places = {place(each) for each in kinds}
    assert None not in places
    assert len(places) == len(kinds)
    for processor in ("of-one-kind", "of-another"):
        machine_code._machine.cache_clear()
        monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda name=processor: name)
        places |= {place(each) for each in kinds}
    monkeypatch.undo()
    machine_code._machine.cache_clear()
    assert len(places) == 3 * len(kinds)


VALUES = [
    True, 3, -(2**40), 2.5, None, (1, 2.5), (1, 2), np.uint32(3), np.float32(1), np.int64(3), np.bool_(True),
    np.zeros(3, np.uint16), np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((4, 6))[:, ::2],
    np.zeros(6, np.int32)[::2], np.zeros(3, np.bool_), np.frombuffer(bytes(8), np.uint8),
    np.zeros(0, np.int8),
]  # fmt: skip


def test_what_has_one_kind_has_one_type():
    kinds = [kind_of(value) for value in VALUES]
    assert None not in kinds
    assert len(set(kinds)) == len({str(numba.typeof(value)) for value in VALUES})
    for value, kind in zip(VALUES, kinds, strict=True):
        if hasattr(kind, "numba_type"):
            assert kind.numba_type() == numba.typeof(value)


def test_uncommon_arguments_have_no_kind():
    uncommon = ("text", 2**63, 1j, np.zeros(2, complex), np.zeros(2, ">i4"), np.array(["a"]), [1], (1, "a"))
    assert [kind_of(value) for value in uncommon] == [None] * len(uncommon)


def test_names_that_an_object_file_wants(kept):
    code = next(file for file in kept if file.name.startswith("total")).read_bytes().partition(b"\n")[2]
    names = undefined_names(code)
    assert "PyEval_SaveThread" in names
    assert not any("total" in name for name in names)
    assert undefined_names(b"\xcf\xfa\xed\xfe" + bytes(60)) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path, monkeypatch):
    """A full disk, or a folder of somebody else; here the name is too long."""
    monkeypatch.setattr(machine_code, "undefined_names", lambda code: [])
    machine_code.store(tmp_path / ("x" * 300), machine_code.Symbols("entry"), b"code")
    assert not [*tmp_path.iterdir()]
