"""The process that runs jobs on one graph: one JSON line per request on stdin, one per reply on stdout.

The graph is loaded once; right answers are kept, so that all implementations are compared with the same
one. The first request opens the graph, the others ask ("do") for ``graph``, ``variant``, ``run`` or
``check``. A reply has ``fault`` or ``failure`` (a line) when something was wrong. The worker ends with its
stdin, so that none outlives the process that started it.
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

TRACED = (
    "frontier", "active_edges", *strategies.COLUMNS, "messages", "bytes"
)  # fmt: skip


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
        totals: dict[str, list[float]] = {"computation": []}
        steps: dict[str, list[list[float]]] = {}
        values = {}
        result = None
        for _ in range(request["repeats"]):
            result = None  # the arrays of one result at a time
            start = time.perf_counter()
            result = prepared.call()
            totals["computation"].append(time.perf_counter() - start)
            if prepared.run is not None:
                run = prepared.run(result)
                totals.setdefault("loop", []).append(run.seconds)
                scatter, gather = (run.trace.column(f"{name}_seconds") for name in ("scatter", "gather"))
                timers = {"scatter": scatter, "gather": gather, "iteration": scatter + gather}
                for name, seconds in timers.items():
                    steps.setdefault(name, []).append(seconds.tolist())
                values = {name: run.trace.column(name).tolist() for name in TRACED}
        done = {"totals": totals, "steps": steps, "values": values}
        return done | self._compare(prepared, result, request)

    def _compare(self, prepared: Prepared, result: Any, request: dict[str, Any]) -> dict[str, Any]:
        family = request["implFlags"]["family"]
        right = self.right_answer(request["algorithm"], request["variantFlags"])
        asked = request.get("tolerance") or request["implFlags"].get("tolerance")
        tolerance = asked or algorithm_named(request["algorithm"]).tolerance
        found = compare(prepared.answer(result), right, tolerance, prepared.scaled)
        return found | {"version": version(family)}


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
            if worker is None:
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
