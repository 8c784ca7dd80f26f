"""Table 4: L2 misses per edge of gpop's modes and of plain vertex-centric kernels, simulated.

The paper counts misses of whole frameworks with hardware counters, which few machines give; here the
built-in simulator runs the kernels of the apps (`perf.l2_simulator`), with an L2 that holds an eighth of
the vertex values. Peers cannot be simulated; vertex-centric push and pull stand for them.
"""

from __future__ import annotations

from perf import l2_simulator
from perf.graphs import name_of, open_graph
from perf.l2 import profile, workload
from perf.pictures.study import Study
from perf.pictures.traffic_split import SMALLER, caches_for

TITLE = "L2 misses per edge (Table 4)"
PAPER = (
    "GPOP has up to 9x fewer L2 misses than Ligra, 6.8x than GraphMat and 5.5x than Galois; PageRank "
    "on friendster: 7.71e9 against Ligra's 35.18e9."
)
MODES = ["sc", "pc", "auto", "baseline-push", "baseline-pull"]


def misses(spec: str, app: str, modes: list[str]) -> dict[str, float]:
    """Mode -> misses per edge: a PageRank iteration, or a whole run."""
    graph = open_graph(spec)
    l1, l2 = caches_for(graph.n)
    work = workload(app, graph, "max-degree", l2, None)
    return {record["mode"]: record["l2_misses_per_edge"]
            for record in profile(work, modes, 1, l2_simulator, l1, l2)}  # fmt: skip


def draw(study: Study) -> list[str]:
    """Rows are app and graph, columns modes."""
    scale = study.plan.scale - 4
    apps = ["pagerank"] if study.plan.quick else ["pagerank", "bfs", "sssp", "cc"]
    modes = MODES[-1:] if study.plan.quick else MODES
    cells, said = (
        [],
        [
            f"The simulated L2 holds 1/{SMALLER} of the vertex values; PageRank: one iteration.",
        ],
    )
    specs = [f"rmat:scale={scale}"] if study.plan.quick else [f"rmat:scale={scale}", f"uniform:scale={scale}"]
    for app in apps:
        for spec in specs:
            name = name_of(spec)
            found = study.measured(
                f"l2-{app}-{name}", {"graph": spec, "modes": modes},
                lambda spec=spec, app=app: misses(spec, app, modes), anywhere=True,
            )  # fmt: skip
            cells.append([app, name, *(found[mode] for mode in modes)])
            if {"auto", "baseline-push", "baseline-pull"} <= found.keys():
                push, pull = (found[f"baseline-{way}"] / found["auto"] for way in ("push", "pull"))
                said.append(f"{app} on {name}: push has {push:.2f}x and pull {pull:.2f}x the misses of dual.")
    study.save_table(["app", "graph", *modes], cells)
    return said
