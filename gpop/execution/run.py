"""``gpop.run``: one entry for every program, mode and target.

Chooses the layout, asks the target for its engine, drives the iteration loop and collects the trace.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpop.common.arguments import as_count
from gpop.common.errors import UsageError
from gpop.common.spelling import refusing
from gpop.execution.again import Ran, asked_with, run_again
from gpop.execution.asked import as_vertices, check_options, check_ranks, check_run, check_written
from gpop.execution.checkpoint import Checkpoint, Keeper
from gpop.execution.finished import Run, finished_as, made_run
from gpop.execution.loop import carry_out, engine_for
from gpop.execution.options import Callback, Mode, Model, Residency, Target, Transport
from gpop.model.models import model_of
from gpop.plan.engine import Finished
from gpop.plan.plan import UNLIMITED, Plan, decide, decided_before, remember
from gpop.plan.residency import residency_of
from gpop.plan.trace import Trace
from gpop.program.program import OWN, Program
from gpop.program.start import Start
from gpop.program.values import NOTHING, last_run
from gpop.ranks.world import world_of


@refusing
def run(
    program: Program,
    frontier: Iterable[int] | np.ndarray | None = None,
    *,
    iterations: int | None = None,
    mode: Mode = "auto",
    interleave: bool = False,
    threads: int | None = None,
    target: Target = "cpu",
    ratio: float | None = None,
    model: Model = "engine",
    partition_size: int | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    counters: bool = False,
    transport: Transport = "auto",
    gather: bool = False,
    checkpoint: Checkpoint | None = None,
    residency: Residency = "auto",
    device_memory: int | str | None = None,
) -> Run:
    """Run a program until its frontier is empty or the given number of iterations is done.

    Parameters
    ----------
    program : Program
        Its fields are read and updated in place.
    frontier : array of int, optional
        Vertices active at the start; all vertices when not given.
    iterations : int, optional
        Most iterations to do. An ``all_active`` program needs this, a ``filterFunc`` that settles, or
        a callback that stops it.
    mode : "auto", "sc", "pc", "pull", or the name of a strategy
        Communication mode: chosen by the analytical model, or forced. Pull is chosen for a whole
        iteration (of a program with a ``needsFunc``) or run (of an ``all_active`` one, on the CPU later on by
        how long its iterations take: pc and pull give it the same bits), sc and pc for each partition in the
        others. On a GPU the strategies of `gpop.model.strategies` that are taken only when
        they are asked for have names: ``"edge-list"``, ``"vertex-push-warp"``, also with its parameters
        (``"vertex-push-warp:8-32"``: virtual warps of 8 lanes that take 32 vertices at once) ...
    interleave : bool
        Interleaved scatter-gather: fewer iterations for programs whose result is a fixpoint whatever
        the order of updates. Not repeatable in the number of iterations.
    threads : int, optional
        Threads to use; all that Numba was given when not set.
    target : "cpu", "gpu" or "python"
        Where to run. The GPU takes the same programs (CUDA device and CuPy needed, see `gpop.gpu`);
        ``threads`` means nothing there and ``counters`` are refused; ``interleave`` sends the newest
        values where messages go straight to their vertices. Python is for looking inside: it calls the
        functions as they are, one vertex after the other, so that ``print``, assertions and a debugger work
        (see `gpop.reference`); slow, ``counters`` are refused, and ``mode``, ``interleave``,
        ``threads``, ``ratio``, ``model`` and ``partition_size``, which say how messages travel, mean nothing.
    ratio : float, optional
        BW_PC / BW_SC of the analytical model (GPOP eq. 1): 2 on the CPU, measured once per GPU.
    model : "engine" or "paper"
        What ``mode="auto"`` goes by: eq. (1) and what this engine does beyond it (accesses to the cache,
        edges that need no bin, pull), or eq. (1) alone (`gpop.model.models`). Answers are the same. On a
        GPU, where nothing is added to the bytes, the two differ in pull alone.
    partition_size : int, optional
        Vertices per partition (a power of two), instead of the size that fits the L2 cache.
    progress : bool
        Show what is done: compiling (the first time), building bins, then a bar of iterations.
    callback : function, optional
        Called with the trace record after every iteration; may set the program's parameters; a true
        return value ends the run.
    counters : bool
        Count edges, messages, ids and bins touched (slower).
    transport : "auto", "alone" or "mpi"
        Whether the ranks of an MPI job (``mpiexec -n 4 python script.py``) do the run together: auto where
        there are several, and each for itself when "alone". All must call it, with the same arguments.
    gather : bool
        On several ranks: have the program's fields whole on each of them after the run. Otherwise a rank
        sets its own range of vertices, ``Run.part``. The frontier is always that of all.
    checkpoint : Checkpoint, optional
        Leave now and then what the run needs to go on, and go on from what an earlier one has left.
    residency : "auto", or "memory" or "mapped", or "device" or "stream"
        Where the edges are during the run. On the CPU, of a graph opened from disk (``.mapped``, written by
        ``python -m gpop.convert --layout``): read before it begins, or left there and read as they are
        wanted, so that the graph may be larger than memory. On a GPU: all on the device; or as many as fit,
        those that take most reads first, and the others in the host's memory, read in place over the link
        (what came over it is in ``trace.summary["link"]``). Auto leaves those where they are that are
        expected not to fit.
        Vertex data is in memory, or on the device; answers are the same.
    device_memory : int or str, optional
        Most bytes that the run may take of a GPU, such as ``"4GB"``; what is free when not given.

    Returns
    -------
    Run
        What happened: iterations, seconds, the trace; results are in the program's fields.

    Raises
    ------
    UsageError
        For a vertex outside the graph, an unknown mode or target, or arguments that do not go together.
    ProgramError
        If the program breaks a rule; the message names the file and line.

    Examples
    --------
    >>> import gpop
    >>> class Smallest(gpop.Program):
    ...     label = gpop.VertexField(np.uint32)
    ...     inactive_message = gpop.HARMLESS
    ...     combine = "min"
    ...     def scatterFunc(self, node):
    ...         return self.label[node]
    ...     def gatherFunc(self, value, node):
    ...         if value < self.label[node]:
    ...             self.label[node] = value
    ...             return True
    ...         return False
    >>> ring = gpop.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> program = Smallest(ring)
    >>> program.label = [5, 3, 9, 4]
    >>> result = gpop.run(program, interleave=True)
    >>> program.label.tolist(), result.converged
    ([3, 3, 3, 3], True)
    """
    if not isinstance(program, Program):
        raise UsageError(f"run({program!r}): expected a program made for a graph, such as MyProgram(graph)")
    if not (threads is None and partition_size is None and iterations is None):
        threads, partition_size = as_count("threads", threads), as_count("partition size", partition_size)
        iterations = as_count("iterations", iterations)
    limit = UNLIMITED if iterations is None else min(iterations, UNLIMITED)
    asked = asked_with(
        type(program), program.graph.weights, frontier is None, iterations, target=target, mode=mode,
        interleave=interleave, ratio=ratio, model=model, threads=threads, partition_size=partition_size,
        counters=counters, transport=transport, residency=residency, device_memory=device_memory,
    )  # fmt: skip
    alone = not (progress or callback or checkpoint)
    vertices = as_vertices(frontier, program.graph.n)
    if program._fields.private:
        program._fields.as_declared()
    last_run.on_device = target == "gpu"
    start = Start(
        program.graph, type(program), program._fields, program._parameters, NOTHING, vertices, program
    )
    if alone and len(vars(program)) <= OWN:  # with more it is refused, or may be
        done = run_again(asked, start, limit, Ran.alone)
        if done is not None:
            return done
    plan, world = decided_before(asked, program, limit), None  # of a run that was alone
    if plan is None:
        check_options(program, mode, interleave, target, ratio, model, counters, residency)
    check_run(program, frontier, iterations, interleave, target, callback, residency)
    if plan is None:
        world = world_of(transport)
        if world is not None:
            threads = check_ranks(program, world, target, threads)
            progress = progress and world.rank == 0
        if target == "cpu":
            _begin_loop(type(program), world is not None)
        plan = decide(
            program, target=target, mode=mode, interleave=interleave, counting=counters, threads=threads,
            ratio=ratio, model=model_of(model), partition_size=partition_size, limit=limit,
            residency=residency_of(residency, device_memory, target),
        )  # fmt: skip
        if world is None:
            remember(asked, plan)
    check_written(plan)
    engine = engine_for(target, plan, world, gather, residency)
    keeper = None
    if checkpoint is not None:
        if target != "cpu":
            raise UsageError(f"checkpoint: target {target!r}: expected 'cpu'")
        keeper = Keeper(checkpoint, plan, world, start.sources, callback is not None)
    done = carry_out(
        plan,
        engine,
        start.sources,
        progress=progress,
        callback=callback,
        keeper=keeper,
        asked=asked if alone else None,
    )
    return finished_run(plan, target, *done)


def _begin_loop(cls: type[Program], ranked: bool) -> None:
    """Have the loop compiled meanwhile, if it has to be: the program is checked and compiled here."""
    from gpop.cpu import loops

    loops.begin(loops.kind_of(cls.all_active, cls.priorityFunc is not Program.priorityFunc, ranked))


def finished_run(
    plan: Plan, target: str, trace: Trace, finished: Finished, iterations: int, converged: bool
) -> Run:
    """What a run did, from what the loop returns."""
    if finished.traffic is not None:
        trace.summary["traffic"] = finished.traffic
    if finished.link is not None:
        trace.summary["link"] = finished.link
    same = finished_as(plan, target, finished)
    return made_run(**same, iterations=iterations, trace=trace, converged=converged)
