"""What a user writes: a Program with vertex fields, parameters, declarations and functions about one vertex.

The functions and what an iteration does with them: functions.py. Here is what a class declares, how that is
checked when it is made, and what its programs hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from gpop.common.errors import ProgramError
from gpop.common.spelling import check_set, check_spelling
from gpop.graph.expect import expect_graph
from gpop.graph.graph import Graph
from gpop.program.fields import HARMLESS, Parameter, VertexField
from gpop.program.functions import ARGUMENTS, FUNCTIONS, Functions
from gpop.program.recipes import Declared
from gpop.program.values import NOTHING, Fields

DECLARATIONS = ("all_active", "inactive_message", "combine", "track_touched", "settles", "cuda_source")
BUILT_IN = ("out_degree", "iteration")
TAKEN = (*BUILT_IN, "graph", "vertex_fields", "scalar_parameters")
OWN = 3
"""Attributes of a new program: its graph, the values of its fields and of its parameters."""
COMBINES = ("min", "max", "add", "or")


class Program(Functions):
    """Base class of vertex programs. Subclass it, declare fields, write the functions.

    Parameters
    ----------
    graph : Graph
        The graph that the program is for; its fields have a value for each vertex of it.

    Raises
    ------
    UsageError
        If it is no `Graph`.

    Attributes
    ----------
    all_active : bool
        Every vertex scatters in every iteration; no frontier is kept. The run ends after the given
        number of iterations, or when ``filterFunc`` has returned False for every vertex.
    inactive_message : scalar or `HARMLESS`
        Partition-centric scatter sends a message for every vertex of a partition, active or not.
        Nothing declared: the engine marks the messages of inactive vertices and gather skips them.
        A value: it is sent for inactive vertices and skipped by gather (cheaper; ``scatterFunc`` must
        not return it for an active vertex). `HARMLESS`: whatever ``scatterFunc`` returns for an
        inactive vertex changes nothing (cheapest; distances, labels).
    combine : "min", "max", "add" or "or"
        ``gatherFunc`` is that fold, so a target may combine messages before applying it, and leave
        out those that change no fold (for "min" the largest value and NaN, 0 for "or" ...). A sum of
        messages arrives even if it is 0.
    track_touched : bool
        Keep the list of all vertices that ``gatherFunc`` or the caller ever activated.
    settles : tuple of str
        For ``all_active``: the names of a field and of a parameter. The run is over after an iteration when
        the values of the field, which ``filterFunc`` has set, sum to less than the parameter.
    cuda_source : str
        CUDA C++ for ``target="gpu"`` that defines some of the functions in place of the Python ones, which
        still say what the types are and run on the CPU. Fields are methods, parameters are members::

            template <class Self> __device__ bool gatherFunc(Self& self, float value, unsigned node)
            {
                self.rank(node) += self.damping * value;
                return true;
            }

        It must write the fields that the Python function writes, and no others.

    Inside the functions ``self`` has the fields (``self.field[node]``), the parameters, the
    read-only ``self.out_degree[node]`` and ``self.iteration`` (number of the current iteration, from 0).

    Examples
    --------
    >>> import gpop
    >>> import numpy as np
    >>> class Reach(gpop.Program):
    ...     hops = gpop.VertexField(np.int32, -1)
    ...     def scatterFunc(self, node):
    ...         return self.hops[node] + 1
    ...     def needsFunc(self, node):  # may be left out; with it, gpop may pull
    ...         return self.hops[node] < 0
    ...     def gatherFunc(self, value, node):
    ...         if self.hops[node] < 0:
    ...             self.hops[node] = value
    ...             return True
    ...         return False
    >>> program = Reach(gpop.Graph.from_edges([0, 1, 2], [1, 2, 3], n=5))
    >>> program.hops[0] = 0
    >>> gpop.run(program, frontier=[0]).iterations
    4
    >>> program.hops
    array([ 0,  1,  2,  3, -1], dtype=int32)

    With ``priorityFunc``, here distances in buckets of 10:

    >>> class Paths(gpop.Program):
    ...     distance = gpop.VertexField(np.uint32, 2**31)
    ...     inactive_message, combine = gpop.HARMLESS, "min"
    ...     def scatterFunc(self, node):
    ...         return self.distance[node]
    ...     def applyWeight(self, value, weight):
    ...         return value + weight
    ...     def gatherFunc(self, value, node):
    ...         if value < self.distance[node]:
    ...             self.distance[node] = value
    ...             return True
    ...         return False
    ...     def priorityFunc(self, node):
    ...         return self.distance[node] // 10
    >>> weights = np.array([4, 50, 4, 7], np.uint32)
    >>> program = Paths(gpop.Graph.from_edges([0, 0, 1, 2], [1, 3, 2, 3], weights))
    >>> program.distance[0] = 0
    >>> gpop.run(program, frontier=[0]).converged, program.distance.tolist()
    (True, [0, 4, 8, 15])
    """

    all_active: ClassVar[bool] = False
    inactive_message: ClassVar[Any] = None
    combine: ClassVar[str | None] = None
    track_touched: ClassVar[bool] = False
    settles: ClassVar[tuple[str, str] | None] = None
    cuda_source: ClassVar[str | None] = None

    _members: ClassVar[dict[type, dict[str, Any]]] = {VertexField: {}, Parameter: {}}
    """What a class declares and inherits, by kind; looked up once, since every run makes a program."""
    _defaults: ClassVar[dict[str, Any]] = {}
    """Of its parameters."""
    _lowered: ClassVar[Any]
    """What `gpop.program.lowering` has found of this class, none of its bases: in a table of classes it would
    keep alive those that their functions refer to, with all that is beside them."""
    _series: Mapping[str, np.ndarray] = {}
    """Parameters that have a value for each iteration; replaced, never changed."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._members = {kind: cls._declared(kind) for kind in (VertexField, Parameter)}
        cls._defaults = {name: each.default for name, each in cls._members[Parameter].items()}
        for name in (*cls._members[VertexField], *cls._members[Parameter]):
            if name in TAKEN or name.startswith("_"):
                raise ProgramError(f"{cls.__name__}.{name}: the name is taken; choose another one")
        check_spelling(cls, Program, ARGUMENTS, DECLARATIONS)
        if cls.combine is not None and cls.combine not in COMBINES:
            raise ProgramError(
                f"{cls.__name__}.combine = {cls.combine!r}: expected one of {', '.join(COMBINES)}"
            )
        marker = cls.inactive_message
        if marker is not None and marker is not HARMLESS and (np.ndim(marker) or marker != marker):
            raise ProgramError(
                f"{cls.__name__}.inactive_message = {marker!r}: expected a value equal to itself, or HARMLESS"
            )
        if cls.all_active and cls.priorityFunc is not Program.priorityFunc:
            raise ProgramError(f"{cls.__name__} declares all_active: priorityFunc needs a frontier")
        if cls.all_active and cls.track_touched:
            raise ProgramError(f"{cls.__name__} declares all_active: track_touched needs a frontier")
        for name in ("all_active", "track_touched"):
            if not isinstance(getattr(cls, name), bool):
                raise ProgramError(f"{cls.__name__}.{name} = {getattr(cls, name)!r}: expected True or False")
        if cls.settles is not None:
            cls._check_settles()

    @classmethod
    def _check_settles(cls) -> None:
        fields, parameters = cls.vertex_fields(), cls.scalar_parameters()
        match cls.settles:
            case (str(field), str(parameter)) if field in fields and parameter in parameters:
                pass
            case _:
                raise ProgramError(
                    f"{cls.__name__}.settles = {cls.settles!r}: expected names of a field and of a parameter"
                )
        if not cls.all_active:
            raise ProgramError(f"{cls.__name__}.settles: only a program that declares all_active settles so")

    def __init__(self, graph: Graph) -> None:
        expect_graph(graph, type(self).__name__)
        self.graph = graph
        n, fields = graph.n, self._members[VertexField]
        self._fields = Fields(
            {},
            {
                name: Declared(n, field.dtype, field.fill, None, field.pattern)
                for name, field in fields.items()
            },
        )
        self._parameters = self._defaults.copy()

    @classmethod
    def _beginning(
        cls, graph: Graph, fields: Fields, parameters: dict[str, Any],
        series: Mapping[str, np.ndarray] = NOTHING,
    ) -> Self:  # fmt: skip
        """A new program with these for fields and parameters, which are not checked: for apps' own."""
        program = object.__new__(cls)
        program.graph, program._fields, program._parameters = graph, fields, parameters
        if series:
            program._series = series
        return program

    def _check_set(self) -> None:
        """Refuse attributes of this program, beyond its own, that nobody would look at."""
        if len(vars(self)) > OWN + ("_series" in vars(self)):
            for name in BUILT_IN:
                if name in vars(self):
                    raise ProgramError(
                        f"{type(self).__name__}.{name} was set, which is the run's own: "
                        "expected a field or a parameter of another name"
                    )
            check_set(self, (*self.vertex_fields(), *self.scalar_parameters()), (*FUNCTIONS, *DECLARATIONS))

    @classmethod
    def vertex_fields(cls) -> dict[str, VertexField]:
        """The declared fields, inherited ones included.

        Returns
        -------
        dict of str to VertexField
            By name, those of base classes first.

        Examples
        --------
        >>> import numpy as np
        >>> class Walk(Program):
        ...     steps = VertexField(np.uint8)
        >>> list(Walk.vertex_fields())
        ['steps']
        """
        return dict(cls._members[VertexField])

    @classmethod
    def scalar_parameters(cls) -> dict[str, Parameter]:
        """The declared parameters, inherited ones included.

        Returns
        -------
        dict of str to Parameter
            By name, those of base classes first.

        Examples
        --------
        >>> import numpy as np
        >>> class Walk(Program):
        ...     most = Parameter(np.uint8, 4)
        >>> list(Walk.scalar_parameters())
        ['most']
        """
        return dict(cls._members[Parameter])

    @classmethod
    def _declared(cls, kind: type) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            if base is not Program and base is not object:
                members |= {name: value for name, value in vars(base).items() if isinstance(value, kind)}
        return members
