"""Run under mpiexec: the shipped apps on these ranks, compared with a run alone. Arguments: names of apps."""

from __future__ import annotations

import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import gpop
from gpop.apps.with_messages import APPS
from tests.ranks.agreement import graphs, told, world

WHOLE = ("cc", "hits", "independent_set")
"""Apps that need the arrays of the whole graph on every rank, by messages at least."""


@cache
def in_parts(name: str, graph: gpop.Graph) -> gpop.Graph:
    """The same graph, of which each rank has loaded its part."""
    folder = Path(world().first_ones(tempfile.mkdtemp() if world().rank == 0 else None))
    if world().rank == 0:
        graph.save(folder / f"{name}.bin")
    world().barrier()
    loaded = gpop.load_part(folder / f"{name}.bin", partition_size=16)
    world().barrier()
    if world().rank == 0:
        shutil.rmtree(folder)
    return loaded


def main(asked: list[str]) -> None:
    """Whole answers on each rank, and the rank's own part of what is not gathered."""
    done = 0
    for name in asked or [*APPS, "afforest", "triangles"]:
        for graph_name, graph in graphs().items():
            where = f"{name} on {graph_name}, rank {world().rank}"
            if name == "triangles":
                here = gpop.triangle_count(graph, transport="mpi").count
                alone = told(lambda graph=graph: gpop.triangle_count(graph, transport="alone").count)
                assert here == alone, f"{where}: {here} triangles, alone {alone}"
                continue
            if name == "afforest":
                found = gpop.connected_components(graph, transport="mpi")
                alone = told(lambda graph=graph: gpop.connected_components(graph, transport="alone"))
                own = slice(*found.run.part)
                assert np.array_equal(found.label, alone.label[own]), where
                assert (found.count, found.symmetrized) == (alone.count, alone.symmetrized), where
                continue
            app = APPS[name]
            if app.weighted and graph.weights is None:
                continue
            options = {"mode": "pc", "partition_size": 16, "threads": 1}
            by_itself = {**options, "transport": "alone"}
            alone = told(
                lambda app=app, graph=graph, how=by_itself: app.answer(graph, app.solve(graph, 0, how))
            )
            whole = app.solve(graph, 0, {**options, "transport": "mpi", "gather": True})
            here = app.answer(graph, whole)
            assert np.array_equal(here, alone, equal_nan=True), f"{where}: {here} alone {alone}"
            if name not in WHOLE:
                loaded = in_parts(graph_name, graph)
                here = app.answer(
                    loaded, app.solve(loaded, 0, {**options, "transport": "mpi", "gather": True})
                )
                assert np.array_equal(here, alone, equal_nan=True), f"{where}, in parts: {here} alone {alone}"
            if name in ("bfs", "pagerank", "sssp"):
                part = app.solve(graph, 0, {**options, "transport": "mpi"})
                found, own = app.answer(graph, part), slice(*part.run.part)
                assert np.array_equal(found, alone[own], equal_nan=True), where
                assert len(part.top(3)) <= 3
            done += 1
        if world().rank == 0:
            print(name, flush=True)
    if world().rank == 0:
        print(f"{done} answers agree on {world().size} ranks")


if __name__ == "__main__":
    main(sys.argv[1:])
