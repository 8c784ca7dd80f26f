"""What a user declares: fields, parameters, class attributes, and the errors of getting them wrong."""

from __future__ import annotations

import numpy as np
import pytest

import gpop
from tests.programs import Smallest

GRAPH = gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)


class Base(gpop.Program):
    plain = gpop.VertexField(np.float32)
    filled = gpop.VertexField(np.int16, -3)
    flag = gpop.VertexField(np.bool_, True)
    rate = gpop.Parameter(np.float32, 0.1)
    steps = gpop.Parameter(np.int64)

    def scatterFunc(self, node):
        return self.plain[node]

    def gatherFunc(self, value, node):
        return False


class Derived(Base):
    filled = gpop.VertexField(np.float64, np.inf)  # declared again
    more = gpop.VertexField(np.uint8, 9)


def test_where_all_are_active_nothing_is_tracked():
    """On the compiled targets nothing was noted, so that nobody seemed to have been touched."""
    with pytest.raises(gpop.ProgramError, match="Both declares all_active: track_touched needs a frontier"):
        type("Both", (Base,), {"all_active": True, "track_touched": True})


def test_a_field_is_made_when_it_is_looked_at():
    program = Base(GRAPH)
    program.filled = 5
    program._fields.assign("filled", 2, 7)
    assert not program._fields.made
    assert program.filled.tolist() == [5, 5, 7, 5] and list(program._fields.made) == ["filled"]
    program._fields.assign("filled", 0, 9)
    assert program.filled is program.filled and program.filled.tolist() == [9, 5, 7, 5]


def test_fields_are_arrays_with_the_declared_type_and_fill():
    program = Base(GRAPH)
    assert (program.plain.dtype, program.plain.tolist()) == (np.float32, [0, 0, 0, 0])
    assert (program.filled.dtype, program.filled.tolist()) == (np.int16, [-3] * 4)
    assert (program.flag.dtype, program.flag.tolist()) == (np.bool_, [True] * 4)
    assert program.graph is GRAPH


def test_nan_fill():
    class Nan(Base):
        unknown = gpop.VertexField(np.float32, np.nan)

    assert np.isnan(Nan(GRAPH).unknown).all()


def test_setting_a_field_copies_into_its_array():
    program = Base(GRAPH)
    array, values = program.filled, np.arange(4)
    program.filled = values
    values[:] = 7
    assert program.filled is array
    assert array.tolist() == [0, 1, 2, 3]
    program.filled = 5
    assert array.tolist() == [5] * 4
    program.filled[2] = 8
    assert array.tolist() == [5, 5, 8, 5]
    with pytest.raises(gpop.UsageError, match="^field filled = None: expected a value of type"):
        program.filled = None
    program.filled = np.array(3)
    program.filled = [1.0, 2.0, 3.0, 4.0]
    assert array.tolist() == [1, 2, 3, 4]


ONE_EACH = "expected 4 values of type int16, or one"
REFUSED_VALUES = [
    ([1, 2, 3], rf"field filled: int64 of shape \(3,\): {ONE_EACH}"),
    ([7], rf"field filled: int64 of shape \(1,\): {ONE_EACH}"),
    (np.zeros((4, 2)), rf"field filled: float64 of shape \(4, 2\): {ONE_EACH}"),
    (np.zeros(4, complex), rf"field filled: complex128 of shape \(4,\): {ONE_EACH}"),
    ([[1], [2, 3]], f"field filled: list: {ONE_EACH}"),
    ({1, 2, 3, 4}, f"field filled: set: {ONE_EACH}"),
    ("abcd", f"field filled: str: {ONE_EACH}"),
    ([1, 2, None, 4], f"field filled: a list of other things than numbers: {ONE_EACH}"),
    ([1, 2, 2**80, 4], f"field filled: a list of other things than numbers: {ONE_EACH}"),
    (2**15, "field filled = 32768: expected a value of type int16"),
    (1.5, "field filled = 1.5: expected a value of type int16"),
    ([0, 1, 2**15, 2**40], "field filled, vertex 2: 32768: expected a value of type int16"),
    ([0, 1.5, 2, 3], "field filled, vertex 1: 1.5: expected a value of type int16"),
    ([np.nan, 1, 2, 3], "field filled, vertex 0: nan: expected a value of type int16"),
]


@pytest.mark.parametrize("values, message", REFUSED_VALUES)
def test_a_field_takes_a_value_of_its_type_for_each_vertex(values, message):
    """What would be cut, or is not as long as the graph, is refused, and nothing is set."""
    program = Base(GRAPH)
    before = program.filled.tolist()
    with pytest.raises(gpop.UsageError, match=f"^{message}$"):
        program.filled = values
    assert program.filled.tolist() == before


def test_parameters_have_their_type():
    program = Base(GRAPH)
    assert program.rate == np.float32(0.1)
    assert isinstance(program.rate, np.float32)
    assert program.steps == 0
    program.rate = 1 / 3
    assert program.rate == np.float32(1 / 3)
    program.steps = 2**40
    assert program.steps == 2**40


def test_programs_do_not_share_state():
    one, two = Base(GRAPH), Base(GRAPH)
    one.plain[0] = one.rate = 4
    assert two.plain[0] == 0
    assert two.rate == np.float32(0.1)


def test_inherited_declarations():
    assert list(Derived.vertex_fields()) == ["plain", "filled", "flag", "more"]
    assert list(Derived.scalar_parameters()) == ["rate", "steps"]
    program = Derived(GRAPH)
    assert program.filled.dtype == np.float64
    assert np.isinf(program.filled).all()
    assert program.more.tolist() == [9] * 4
    assert Base(GRAPH).filled.dtype == np.int16
    assert isinstance(Base.plain, gpop.VertexField)
    assert isinstance(Base.rate, gpop.Parameter)


def test_defaults_of_the_declarations():
    assert Base.all_active is False
    assert Base.inactive_message is None
    assert Base.combine is None
    assert Base.track_touched is False
    assert Smallest.inactive_message is gpop.HARMLESS
    assert repr(gpop.HARMLESS) == "gpop.HARMLESS"


def test_default_functions():
    program = Base(GRAPH)
    assert program.initFunc(0) is False
    assert program.filterFunc(0) is True
    assert program.applyWeight(3, 5) == 3
    assert program.needsFunc(0) is True
    with pytest.raises(gpop.ProgramError, match="^Program has no scatterFunc$"):
        gpop.Program(GRAPH).scatterFunc(0)
    with pytest.raises(gpop.ProgramError, match="^Program has no gatherFunc$"):
        gpop.Program(GRAPH).gatherFunc(0, 0)


@pytest.mark.parametrize("combine", ["sum", "", 3, "MIN"])
def test_unknown_combine(combine):
    with pytest.raises(gpop.ProgramError, match=r"^Bad\.combine = .*: expected one of min, max, add, or$"):
        type("Bad", (Base,), {"combine": combine})


@pytest.mark.parametrize("combine", ["min", "max", "add", "or", None])
def test_known_combine(combine):
    assert type("Good", (Base,), {"combine": combine}).combine == combine


def test_inactive_message_must_be_recognisable():
    with pytest.raises(gpop.ProgramError, match=r"^Bad\.inactive_message = nan: expected a value equal to"):
        type("Bad", (Base,), {"inactive_message": float("nan")})
    for value in ([1], (1,), np.array([1, 2])):
        with pytest.raises(gpop.ProgramError, match=r"^Bad\.inactive_message = .*, or HARMLESS$"):
            type("Bad", (Base,), {"inactive_message": value})


@pytest.mark.parametrize("name", ["out_degree", "iteration", "graph", "vertex_fields", "_hidden"])
@pytest.mark.parametrize("member", [gpop.VertexField(np.int32), gpop.Parameter(np.int32)])
def test_taken_names(name, member):
    with pytest.raises(gpop.ProgramError, match=rf"^Bad\.{name}: the name is taken; choose another one$"):
        type("Bad", (Base,), {name: member})


ACCEPTED = "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64"


@pytest.mark.parametrize(
    "dtype",
    ["U4", object, "datetime64[s]", np.complex64, [("a", int)], np.float16, np.longdouble, "no type"],
)
@pytest.mark.parametrize("kind", [gpop.VertexField, gpop.Parameter])
def test_types_that_are_no_scalars(kind, dtype):
    with pytest.raises(gpop.UsageError, match=rf"^\w+ ?\w* of type .*: expected one of {ACCEPTED}$"):
        kind(dtype)


@pytest.mark.parametrize("name", ACCEPTED.split(", "))
def test_types_of_the_other_byte_order_become_native(name):
    swapped = np.dtype(name).newbyteorder("S")
    assert gpop.VertexField(swapped).dtype == gpop.Parameter(swapped).dtype == np.dtype(name)


def test_values_that_do_not_fit_their_type():
    with pytest.raises(gpop.UsageError, match="^fill = 300: expected a value of type uint8$"):
        gpop.VertexField(np.uint8, 300)
    with pytest.raises(gpop.UsageError, match="^default = 'x': expected a value of type float32$"):
        gpop.Parameter(np.float32, "x")
    program = Base(GRAPH)
    for nothing in (None, "0.5"):  # NumPy makes NaN of one, and a number of the other
        with pytest.raises(gpop.UsageError, match=f"^parameter rate = {nothing!r}: expected a value of type"):
            program.rate = nothing
    with pytest.raises(gpop.UsageError, match="^parameter rate = 'fast': expected a value of type float32$"):
        program.rate = "fast"
    assert program.rate == np.float32(0.1)
    several = [1, 2.5], [[1], [2, 3]], np.ones((2, 2), int), []
    for value in (2.5, 2**63, "3", None, *several):  # NumPy would make 2 of the first
        with pytest.raises(gpop.UsageError, match="^parameter steps.* = .*: expected a value of type int64"):
            program.steps = value
    program.steps = np.float32(3)
    assert program.steps == 3
    with pytest.raises(gpop.UsageError, match=r"^fill = 0\.5: expected a value of type int32$"):
        gpop.VertexField(np.int32, 0.5)
    with pytest.raises(gpop.UsageError, match="^default = 300: expected a value of type uint8$"):
        gpop.Parameter(np.uint8, np.int64(300))


@pytest.mark.parametrize("name", ["all_active", "track_touched"])
def test_declarations_are_true_or_false(name):
    with pytest.raises(gpop.ProgramError, match=rf"^Bad\.{name} = 'no': expected True or False$"):
        type("Bad", (Base,), {name: "no"})


# --- misspelt names ----------------------------------------------------------------------------


def one(self, node):
    return True


def two(self, value, node):
    return True


@pytest.mark.parametrize(
    "name, meant",
    [
        ("gatherfunc", "gatherFunc"), ("gather_func", "gatherFunc"), ("gatherFunction", "gatherFunc"),
        ("GatherFunc", "gatherFunc"), ("gaterFunc", "gatherFunc"), ("gatherFn", "gatherFunc"),
        ("filterfunc", "filterFunc"), ("filterFunction", "filterFunc"), ("fliterFunc", "filterFunc"),
        ("scatter_func", "scatterFunc"), ("scaterFunc", "scatterFunc"), ("init_func", "initFunc"),
        ("apply_weight", "applyWeight"), ("applyWeights", "applyWeight"), ("needFunc", "needsFunc"),
        ("priority_function", "priorityFunc"),
    ],
)  # fmt: skip
def test_misspelt_functions(name, meant):
    function = two if meant in ("gatherFunc", "applyWeight") else one
    message = rf"^{__file__}:{function.__code__.co_firstlineno}: Bad\.{name}: .*; did you mean {meant}\?$"
    with pytest.raises(gpop.ProgramError, match=message):
        type("Bad", (Base,), {name: function})
    mixin = type("Mixin", (), {name: function})
    with pytest.raises(gpop.ProgramError, match=message):
        type("Bad", (mixin, Base), {})


@pytest.mark.parametrize(
    "name",
    [
        "gather", "filter", "scatter", "init", "initialize", "gather_results", "filtered", "reset",
        "priority", "function", "needs", "weight", "apply", "run", "_gatherfunc", "transferFunc",
        "distanceFunc",
    ],
)  # fmt: skip
def test_methods_for_those_who_use_a_program(name):
    kind = type("Good", (Base,), {name: one})
    assert getattr(kind(GRAPH), name)(0) is True


def test_helpers_of_other_shapes_may_sound_alike():
    members = {"unitFunc": lambda self: 1, "gatherfunc2": staticmethod(two), "filterfunc": property(one)}
    assert type("Good", (Base,), members)(GRAPH).unitFunc() == 1


@pytest.mark.parametrize(
    "name, value, meant",
    [
        ("allActive", True, "all_active"), ("all_activ", True, "all_active"), ("Combine", "min", "combine"),
        ("inactiveMessage", 0, "inactive_message"), ("track_touch", True, "track_touched"),
    ],
)  # fmt: skip
def test_misspelt_declarations(name, value, meant):
    with pytest.raises(gpop.ProgramError, match=rf"^Bad\.{name}: .*; did you mean {meant}\?$"):
        type("Bad", (Base,), {name: value})
    assert type("Good", (Base,), {"limit": 3, "title": "x"}).limit == 3


@pytest.mark.parametrize("graph, kind", [(None, "NoneType"), (5, "int"), ([[0, 1]], "list")])
def test_a_program_is_made_of_a_graph(graph, kind):
    with pytest.raises(gpop.UsageError, match=rf"^Base: expected a gpop\.Graph, got {kind}: make one with"):
        Base(graph)


@pytest.mark.parametrize("name", ["rtae", "Rate", "pl_ain", "stpes"])
def test_misspelt_values(name):
    program = Base(GRAPH)
    setattr(program, name, 3)
    with pytest.raises(gpop.ProgramError, match=rf"^Base\.{name} was set: .*; did you mean \w+\?$"):
        gpop.run(program, target="python")


@pytest.mark.parametrize("name", ["combine", "all_active", "filterFunc"])
def test_what_only_a_class_can_say(name):
    program = Base(GRAPH)
    setattr(program, name, None)
    with pytest.raises(gpop.ProgramError, match=rf"^Base\.{name} was set on a program: expected it in the c"):
        gpop.run(program, target="python")


@pytest.mark.parametrize("name", ["out_degree", "iteration"])
def test_what_the_functions_see_cannot_be_set(name):
    program = Base(GRAPH)
    setattr(program, name, 3)
    with pytest.raises(
        gpop.ProgramError, match=rf"^Base\.{name} was set, which is the run's own: expected a f"
    ):
        gpop.run(program, target="python")


def test_a_program_may_keep_other_things():
    program = Base(GRAPH)
    program.rates, program.seen, program._rate = [1], {}, 3
    assert gpop.run(program, target="python").iterations == 1
