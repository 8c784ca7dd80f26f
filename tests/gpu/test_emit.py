"""The emitted CUDA C++ gives what Numba gives: every function, bit for bit, on random and extreme input."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

import gpop
from gpop.common.errors import ProgramError
from gpop.common.inlined import KERNEL
from gpop.gpu import helpers
from gpop.gpu.emit import emit
from gpop.program.lowering import lower
from gpop.program.published import publish_user
from gpop.program.state import state_class
from tests.gpu.host import compile_host
from tests.gpu.probes import PROBES
from tests.gpu.shipped import SHIPPED
from tests.quick import quick

COUNT = 600
PROGRAMS = SHIPPED | PROBES


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    emitted = {name: (emit(cls, lower(cls), weight), weight) for name, (cls, weight) in PROGRAMS.items()}
    return emitted, compile_host(emitted, tmp_path_factory.mktemp("emitted"))


def test_every_label_is_gone_to(compiled):
    """A label that no ``goto`` names is a warning of nvcc."""
    for name, (emitted, _) in compiled[0].items():
        for function in emitted.source.split("__device__"):
            labels = re.findall(r"(block_\d+):;", function)
            assert set(labels) == set(re.findall(r"goto (block_\d+);", function)), name


def sample(dtype, rng, count=COUNT):
    """Small numbers, numbers over the whole range, and the ends of it."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(np.bool_)
    if dtype.kind == "f":
        values = rng.normal(size=count) * 10.0 ** rng.integers(-6, 21, count)
        values[::3] = rng.integers(-8, 8, values[::3].size)
        values[:10] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, 2.0**31, -(2.0**31), 2.0**63, -(2.0**63)]
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        values[::2] = rng.integers(max(-8, info.min), 8, values[::2].size)
        values[:4] = [info.min, info.max, 0, 1]
    return rng.permutation(values.astype(dtype))


def assert_same(ours, numbas, what):
    np.testing.assert_array_equal(ours, numbas, err_msg=what)
    if ours.dtype.kind == "f":  # both zeros
        numbers = ~np.isnan(ours)
        np.testing.assert_array_equal(np.signbit(ours[numbers]), np.signbit(numbas[numbers]), err_msg=what)


class State(SimpleNamespace):
    """The same random state as a C struct and as the tuple of the CPU."""

    def __init__(self, cls, lowered, emitted, rng):
        super().__init__(lowered=lowered, dtype=emitted.state_dtype)
        self.arrays = {name: sample(cls.vertex_fields()[name].dtype, rng) for name in lowered.fields}
        self.scalars = {
            name: sample(cls.scalar_parameters()[name].dtype, rng)[7] for name in lowered.parameters
        }
        if "out_degree" in lowered.built_in:
            self.arrays["out_degree"] = sample(np.uint32, rng)
        if "iteration" in lowered.built_in:
            self.scalars["iteration"] = np.int64(11)

    def struct(self):
        values = {name: array.ctypes.data for name, array in self.arrays.items()} | self.scalars
        return np.array([tuple(values.get(name, 0) for name in self.dtype.names)], self.dtype)

    def tuple(self):
        names = self.lowered.fields + self.lowered.parameters + self.lowered.built_in
        values = self.arrays | self.scalars
        return state_class(self.lowered)(*([values[name] for name in names] or [0]))


@pytest.mark.parametrize("name", quick(PROGRAMS, *list(PROGRAMS)[::2]))
def test_every_function_gives_what_numba_gives(name, compiled, capfd):
    cls, weight = PROGRAMS[name]
    (emitted, _), library, lowered = compiled[0][name], compiled[1], lower(cls)
    rng, nodes = np.random.default_rng(2024), np.arange(COUNT, dtype=np.uint32)
    for function in [word for word in emitted.defined if word in vars(cls)]:
        kind = emitted.message_dtype if function == "applyWeight" else emitted.gathered_dtype
        values, weights = sample(kind, rng), sample(weight or np.int8, rng)
        columns = {"applyWeight": (values, weights), "gatherFunc": (values, nodes)}.get(function, (nodes,))
        typed = {"scatterFunc": emitted.message_dtype, "applyWeight": emitted.gathered_dtype}
        typed["priorityFunc"] = np.dtype(np.int64)
        answers = np.zeros(COUNT, typed.get(function, np.bool_))
        ours, numbas = [State(cls, lowered, emitted, np.random.default_rng(5)) for _ in range(2)]

        call = getattr(library, f"{name}_{function}")
        call.argtypes = (ctypes.c_void_p, ctypes.c_uint, *[ctypes.c_void_p] * 3)
        call(ours.struct().ctypes.data, COUNT, *[array.ctypes.data for array in (values, weights, answers)])
        theirs = njit(**KERNEL)(publish_user(lowered.functions[function], function, lowered.key))
        state = numbas.tuple()
        expected = [theirs(state, *arguments) for arguments in zip(*columns, strict=True)]
        if answers.dtype == bool:
            expected = [bool(answer) for answer in expected]

        assert_same(answers, np.array(expected, answers.dtype), f"{function} answers")
        for field in lowered.fields:
            assert_same(ours.arrays[field], numbas.arrays[field], f"{function} leaves {field}")
    assert "runtime error" not in capfd.readouterr().err


def test_types_are_those_of_numba(compiled):
    emitted = {name: compiled[0][name][0] for name in PROBES}
    assert emitted["SingleFloats"].message_dtype == np.float32
    assert emitted["SingleFloats"].gathered_dtype == np.float64  # float32 / int32
    assert emitted["SmallFields"].message_dtype == np.int8
    assert emitted["SmallFields"].written == ("o0", "o1")
    assert emitted["Answers"].written == ("out_count",)
    assert emitted["Answers"].defined == ("scatterFunc", "initFunc", "gatherFunc", "filterFunc")
    assert emitted["Answers"].state_dtype.names == ("a", "out_count", "out_degree", "iteration")


def test_weights_are_left_out_when_there_are_none():
    cls, _ = PROBES["SingleFloats"]
    emitted = emit(cls, lower(cls))
    assert "applyWeight" not in emitted.defined
    assert emitted.gathered_dtype == np.float32


def test_text_shows_the_users_lines():
    cls, weight = SHIPPED["SSSP"]
    assert "// if value < self.distance[node]:" in emit(cls, lower(cls), weight).source


# --- what the GPU target does not know ---------------------------------------------------------------

UNKNOWN = {
    "math.gamma(self.x[node])": "gamma(float64)",
    "np.heaviside(self.x[node], 0.5)": "does not compile: Use of unsupported NumPy function",
    "np.logaddexp(self.x[node], 0.5)": "logaddexp(float64, float64)",
    "len((1, 2))": "this call of len",
    "PRIMES[int(self.x[node])]": "an element of Tuple",
    "(1 + 2j) != self.x[node]": "a value of type complex128",
    "'a' == 'b'": "a value of type Literal[str](a)",
    "swapped(1, 2)[0] > 0": "a call of swapped that gives UniTuple(int64 x 2)",
    "TABLE[0] > 0": "an element of readonly array(int64",
}


@pytest.mark.parametrize("construct", UNKNOWN)
def test_unknown_construct_names_file_line_and_construct(construct, tmp_path):
    path = tmp_path / "unknown.py"
    path.write_text(
        "import math\nimport numpy as np\nimport gpop\nPRIMES = (2, 3, 5)\nTABLE = np.arange(3)\n"
        "def swapped(a, b):\n    return b, a\n"
        "class Unknown(gpop.Program):\n    x = gpop.VertexField(np.float64)\n"
        "    def scatterFunc(self, node):\n        return node\n"
        "    def gatherFunc(self, value, node):\n        return True\n"
        f"    def filterFunc(self, node):\n        y = {construct}\n        return y > 1\n"
    )
    spec = importlib.util.spec_from_file_location("unknown", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(ProgramError) as error:
        emit(module.Unknown, lower(module.Unknown))
    assert UNKNOWN[construct] in str(error.value)
    assert str(error.value).startswith(f"{path}:15: Unknown.filterFunc")


def test_numbas_colours_are_left_out(monkeypatch):
    """Where colorama is installed Numba colours its messages."""

    def refuse(function, argument_types):
        raise TypingError("\x1b[1mFailed in nopython mode\x1b[0m\n\x1b[1m\x1b[31mno such name\x1b[0m")

    monkeypatch.setattr(helpers, "infer", refuse)
    cls, weight = SHIPPED["PageRank"]
    with pytest.raises(ProgramError, match=r"PageRank\.scatterFunc does not compile: no such name$"):
        emit(cls, lower(cls), weight)


# --- cuda_source -------------------------------------------------------------------------------------


class Doubled(gpop.Program):
    """gatherFunc comes from the user's CUDA C++, which doubles what Python would add."""

    total = gpop.VertexField(np.int64)
    heard = gpop.VertexField(np.int32)
    step = gpop.Parameter(np.int64, 3)
    cuda_source = """
    // scatterFunc(...) { is not defined here, /* filterFunc(x) { */ nor there
    __device__ long long twice(long long x) { return x + x; }
    template <class Self>
    __device__ bool gatherFunc(Self& self, long long value, unsigned node)
    {
        self.total(node) += twice(value) * self.step;
        if (self.total(node) == 0) { return false; }
        return value > 0;
    }
    """

    def scatterFunc(self, node):
        return self.total[node] + self.heard[node]

    def gatherFunc(self, value, node):
        self.total[node] += value * self.step
        return math_that_only_numba_knows(value) > 0


def math_that_only_numba_knows(value):
    return value + len((1, 2)) - 2


def test_cuda_source_takes_the_place_of_a_function(tmp_path):
    lowered = lower(Doubled)
    emitted = emit(Doubled, lowered)
    assert (emitted.written, emitted.message_dtype) == (("total",), np.int64)
    assert emitted.source.count("bool gatherFunc(") == 1
    assert emitted.source.count("scatterFunc(Self&") == 1
    library = compile_host({"doubled": (emitted, None)}, tmp_path)
    total, values, answers = np.array([5, -2]), np.array([7, -7]), np.zeros(2, bool)
    state = np.zeros(1, emitted.state_dtype)
    state["total"], state["step"] = total.ctypes.data, 3
    pointer = ctypes.c_void_p
    library.doubled_gatherFunc(
        pointer(state.ctypes.data), 2, pointer(values.ctypes.data), None, pointer(answers.ctypes.data)
    )
    assert (total.tolist(), answers.tolist()) == ([47, -44], [True, False])


def test_cuda_source_is_part_of_the_content_key():
    class Other(Doubled):
        cuda_source = Doubled.cuda_source.replace("x + x", "x * 2")

    class Same(Doubled):
        pass

    Other.__name__ = Same.__name__ = Doubled.__name__
    assert lower(Other).key != lower(Doubled).key == lower(Same).key


def test_cuda_source_that_defines_nothing_is_refused():
    class Nothing(Doubled):
        cuda_source = "__device__ int gather(int x) { return gatherFunc(x); }"

    with pytest.raises(ProgramError, match=r"Nothing\.cuda_source defines none of scatterFunc"):
        emit(Nothing, lower(Nothing))


def test_cuda_source_without_a_python_function_is_refused():
    class Extra(Doubled):
        cuda_source = "template <class S> __device__ bool filterFunc(S& self, unsigned v) { return true; }"

    with pytest.raises(ProgramError, match="expected filterFunc in Python too"):
        emit(Extra, lower(Extra))


def test_changing_a_function_that_inherited_cuda_source_defines_is_refused():
    class Changed(Doubled):
        def gatherFunc(self, value, node):
            self.total[node] -= value
            return True

    with pytest.raises(ProgramError, match=r"Changed\.gatherFunc replaces the one that Doubled\.cuda_source"):
        emit(Changed, lower(Changed))

    class Plain(Changed):
        cuda_source = None

    assert "gatherFunc(Self& self, long long value" in emit(Plain, lower(Plain)).source
