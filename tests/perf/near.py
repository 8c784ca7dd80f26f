"""Workers of run-benchmarks in the test's own process, and implementations that answer wrongly."""

from __future__ import annotations

import json

import numpy as np

from perf.implementations import Prepared
from perf.run_benchmarks import WorkerFailed
from perf.worker import Worker

LIBRARY = DISTRIBUTION = "numpy"
THREADED = True
IMPLEMENTATIONS = {"bfs": {"liar": {}}, "pagerank": {"liar": {}}}


class NearWorker:
    """Stands in for `perf.run_benchmarks.WorkerProcess`."""

    alive = True
    asked: list = []

    def __init__(self, graph, graph_hash, threads):
        self._replies = []
        self._open(graph, graph_hash, threads)

    def _open(self, graph, graph_hash, threads):
        try:
            self._worker = Worker(graph, threads, graph_hash)
        except Exception as error:
            raise WorkerFailed(str(error)) from None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        pass

    def ask(self, **request):
        self.asked.append(request)
        if "graph" in request:
            return self._open(request["graph"], request["hash"], request["threads"])
        request = json.loads(json.dumps(request))
        return json.loads(json.dumps(getattr(self._worker, f"do_{request['do']}")(request)))

    def send(self, **request):
        self._replies.append(self.ask(**request))

    def receive(self, most=None):
        return self._replies.pop(0)


def prepare(algorithm, graph, variant, flags, threads):
    """A family of implementations, itself: one level wrong, one rank wrong."""
    right = np.zeros(graph.n, np.int64) if algorithm == "bfs" else np.full(graph.n, 1 / graph.n)
    return Prepared(call=lambda: right, answer=lambda found: found)
