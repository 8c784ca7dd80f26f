"""The process that runs jobs on one graph: one JSON line per request on stdin, one per reply on stdout.

The graph is loaded once; right answers are kept, so that all implementations are compared with the same
one. The first request opens a graph, and later ones may open others; the rest ask ("do") for ``graph``,
``variant``, ``run``, ``series`` or ``check``. A reply has ``fault`` or ``failure`` (a line) when something
was wrong. The worker ends with its stdin, so that none outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np

from gpop.common.errors import GpopError, UsageError
from gpop.model import strategies
from gpop.model.features import OF_GRAPH, OF_RUN, OF_STEP, graph_features
from perf.algorithms import algorithm_named
from perf.answers import answer_hash, compare
from perf.graphs import graph_digest, open_graph
from perf.implementations import Prepared, family_module, version
from perf.provenance import device
from perf.time_limit import OutOfTime, within

LOGGED = ("frontier", "active_edges", "messages")
"""What the log of steps has of an iteration beside its time (`perf.schema`, ``StepLog``)."""

REPEATED = 0.1
"""Of the time of a series: what is left is for those that are slow, once from every root."""

TRACED = (*LOGGED, *strategies.COLUMNS, "bytes")


class Worker:
    """Answers requests about one graph."""

    def __init__(self, spec: str, threads: int, stored_hash: str | None) -> None:
        self.graph = open_graph(spec)
        self.threads = threads
        self._right: dict[tuple[str, str], np.ndarray] = {}
        if stored_hash is not None and graph_digest(self.graph) != stored_hash:
            raise UsageError(f"graph {spec}: is not the graph that it was when it was added")

    def right_answer(self, algorithm: str, flags: dict[str, Any]) -> np.ndarray:
        """What a variant's answer must be."""
        key = (algorithm, json.dumps(flags, sort_keys=True))
        if key not in self._right:
            known = algorithm_named(algorithm)
            self._right[key] = known.right(known.graph(self.graph), flags)
        return self._right[key]

    def prepare(self, request: dict[str, Any]) -> Prepared:
        """The implementation, ready to be called."""
        flags = dict(request["implFlags"])
        module = family_module(flags.pop("family"))
        threads = flags.pop("threads", request.get("threads", self.threads))
        graph = algorithm_named(request["algorithm"]).graph(self.graph)
        return module.prepare(request["algorithm"], graph, request["variantFlags"], flags, threads)

    def do_graph(self, request: dict[str, Any]) -> dict[str, Any]:
        """Hash and properties of the graph."""
        from gpop.info import describe

        told = dict(_numbers(describe(self.graph)))
        told |= dict(zip(OF_GRAPH, graph_features(self.graph), strict=True))
        return {"hash": graph_digest(self.graph), "properties": told}

    def do_variant(self, request: dict[str, Any]) -> dict[str, Any]:
        """Hash of the right answer; frontier, edges and features of each step of a bulk-synchronous run."""
        known, flags = algorithm_named(request["algorithm"]), request["variantFlags"]
        options = {"threads": self.threads} | ({"interleave": False} if known.interleaved else {})
        graph = known.graph(self.graph)
        trace = known.call(graph, flags, options).trace
        steps = {name: trace.column(name).tolist() for name in ("frontier", "active_edges")}
        found = trace.features(graph)
        steps |= {name: found[name].tolist() for name in (*OF_RUN, *OF_STEP)}
        return {"hash": answer_hash(self.right_answer(request["algorithm"], flags)), "steps": steps}

    def do_check(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call, compared in full."""
        prepared = self.prepare(request)
        return self._compare(prepared, prepared.call(), request)

    def do_run(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call that is discarded, then the repeats; the last answer is compared."""
        prepared = self.prepare(request)
        prepared.call()
        measured = Measured(("scatter", "gather", "iteration"), TRACED)
        for _ in range(request["repeats"]):
            measured.call(prepared)
        return measured.told() | self._compare(prepared, measured.result, request)

    def do_series(self, request: dict[str, Any]) -> dict[str, Any]:
        """All variants by one implementation, in ``seconds`` together; as many as were done, and why no more.

        One iteration is discarded, so that layouts and kernels are there; nothing is told that the log of
        steps has no use for. Whole-number answers are compared by their hash where the right one is known.
        """
        self.prepare(_briefly(request | {"variantFlags": request["variants"][0]["flags"]})).call()
        most, runs, begin = request["seconds"], [], time.monotonic()
        share = REPEATED * most / len(request["variants"])
        for place, variant in enumerate(request["variants"], 1):
            asked = request | {"variantFlags": variant["flags"]}
            prepared, measured = self.prepare(asked), Measured(("iteration",), LOGGED)
            try:
                for number in range(request["repeats"]):
                    spent = time.monotonic() - begin
                    if number and spent > share * place:
                        break
                    with within(most - spent):
                        measured.call(prepared)
            except OutOfTime:
                done = f"{len(runs)} of {len(request['variants'])}"
                return {"runs": runs, "late": f"time-out: {done} runs done in {most:g} s"}
            runs.append(measured.told() | self._compare(prepared, measured.result, asked, variant["result"]))
        return {"runs": runs, "late": None}

    def _compare(
        self, prepared: Prepared, result: Any, request: dict[str, Any], known: str | None = None
    ) -> dict[str, Any]:
        """``known``: the hash of the right answer, which is enough where there is one."""
        told = version(request["implFlags"]["family"])
        if request["implFlags"].get("target") == "gpu":
            told = f"{told}, {device()}"
        if known is not None:
            found = answer_hash(prepared.answer(result))
            fault = None if found == known else "the hash of the answer is not that of the right one"
            return {"hash": found, "error": None, "fault": fault, "version": told}
        right = self.right_answer(request["algorithm"], request["variantFlags"])
        asked = request.get("tolerance") or request["implFlags"].get("tolerance")
        tolerance = asked or algorithm_named(request["algorithm"]).tolerance
        found = compare(prepared.answer(result), right, tolerance, prepared.scaled)
        return found | {"version": told}


class Measured:
    """Calls of one implementation: seconds of each, in all and by iteration, and what the last one did."""

    def __init__(self, timers: tuple[str, ...], columns: tuple[str, ...]) -> None:
        self.timers, self.columns = timers, columns
        self.totals: dict[str, list[float]] = {"computation": []}
        self.steps: dict[str, list[list[float]]] = {}
        self.values: dict[str, list[int]] = {}
        self.result: Any = None

    def call(self, prepared: Prepared) -> None:
        """One more, timed."""
        self.result = None  # the arrays of one result at a time
        start = time.perf_counter()
        self.result = prepared.call()
        self.totals["computation"].append(time.perf_counter() - start)
        if prepared.run is None:
            return
        run = prepared.run(self.result)
        self.totals.setdefault("loop", []).append(run.seconds)
        scatter, gather = (run.trace.column(f"{name}_seconds") for name in ("scatter", "gather"))
        known = {"scatter": scatter, "gather": gather, "iteration": scatter + gather}
        for name in self.timers:
            self.steps.setdefault(name, []).append(known[name].tolist())
        self.values = {name: run.trace.column(name).tolist() for name in self.columns}

    def told(self) -> dict[str, Any]:
        """As the store takes it."""
        return {"totals": self.totals, "steps": self.steps, "values": self.values}


def _briefly(request: dict[str, Any]) -> dict[str, Any]:
    """The same for one iteration."""
    variant, flags = request["variantFlags"], request["implFlags"]
    if "iterations" in variant:
        return request | {"variantFlags": variant | {"iterations": 1}}
    return request | {"implFlags": flags | {"iterations": 1}}


def _numbers(told: dict[str, Any], prefix: str = ""):
    """The numbers of `gpop.info.describe`, nested names joined."""
    for name, value in told.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{name} ")
        elif isinstance(value, (int, float)) and name != "available bytes":
            yield f"{prefix}{name}", float(value)


def serve(requests, replies) -> None:
    """Answer until there are no more requests."""
    worker = None
    for line in requests:
        request = json.loads(line)
        try:
            if "graph" in request:
                worker = None  # one graph at a time
                worker = Worker(request["graph"], request["threads"], request["hash"])
                reply: dict[str, Any] = {"vertices": worker.graph.n, "edges": worker.graph.m}
            else:
                reply = getattr(worker, f"do_{request['do']}")(request)
        except (GpopError, MemoryError) as error:
            reply = {"failure": str(error) or "not enough memory"}
        except Exception as error:  # a peer's own error must not end the others' measurements
            reply = {"failure": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def main() -> int:
    """Serve; what libraries print goes to stderr, so that stdout holds replies only."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        serve(sys.stdin, replies)
    except BrokenPipeError:  # whoever asked is gone
        os._exit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
