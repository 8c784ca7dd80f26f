"""``python -m perf COMMAND ...``: one registry line per command, its module imported when it is called."""

from __future__ import annotations

import importlib
import sys

from gpop.common.command import exit_code
from gpop.common.errors import UsageError

COMMANDS = {  # name: module with ``main(argv) -> exit code``, what it does
    "bench": ("perf.bench", "time apps over graphs, modes, partition sizes and threads with pyperf"),
    "compare": ("perf.compare", "what changed between two files of bench, and whether it is more than noise"),
    "add": ("perf.add", "register platforms, graphs, implementations, variants, run configurations"),
    "run-benchmarks": ("perf.run_benchmarks", "run what is registered and has no result in the store"),
    "validate": ("perf.validate", "repeat runs whose results were found wrong, and compare them in full"),
    "list": ("perf.query", "print a table of the store"),
    "query": ("perf.query", "print one entry of the store, or the answer to an SQL question"),
    "model": (
        "perf.model",
        "trees that predict the fastest strategy: train, show, validate, compare, export",
    ),
    "steps": ("perf.steps_file", "write the log of steps to small files"),
    "default-tree": ("perf.default_tree", "the tree of a target that comes with gpop, from logs of steps"),
    "model-study": (
        "perf.model_study",
        "eq. (1), auto, trees and the oracle on the log, training sizes, importances",
    ),
    "import-external": ("perf.external", "take times of other programs from a CSV file"),
    "machine": ("perf.machine", "caches, cores, threads, bandwidth, and the limit of a PageRank iteration"),
    "gap": ("perf.gap", "the six kernels of the GAP suite by its rules, and its own programs beside them"),
    "auto": ("perf.auto", "auto beside every mode that can be forced: what the choice of modes costs"),
    "calls": ("perf.calls", "what a user waits for: wall time of a call of every app, beside its peer's"),
    "start": ("perf.start", "what a user waits for who starts a command, the first time and later"),
    "scaling": ("perf.scaling", "time and speed-up of the apps by number of threads, strong and weak"),
    "ranks": ("perf.ranks", "what ranks send each other, counted and predicted, and on paper"),
    "ranks-cpu": ("perf.ranks_cpu", "time that the engines of several ranks work, beside one process"),
    "ranks-gpu": ("perf.ranks_gpu", "apps on several GPUs, a rank for each, beside one of them"),
    "mapped": ("perf.mapped", "runs on graphs that stay on disk, beside the disk's own speed"),
    "networkx": ("perf.networkx", "NetworkX's functions through gpop beside NetworkX, and the conversion"),
    "loading": ("perf.loading", "speed and memory of reading every format, and of starting with kept bins"),
    "analytics": ("perf.analytics", "clustering, communities, colours and forests beside other libraries"),
    "graphalytics": ("perf.graphalytics", "run LDBC Graphalytics data sets and check their answers"),
    "l2": ("perf.l2", "L2 misses per edge of an app and of vertex-centric baselines"),
    "l2-tables": ("perf.l2_tables", "L2 misses of modes side by side, and of simulator and cachegrind"),
    "gpu": (
        "perf.gpu",
        "the apps on a GPU beside baselines in CUDA, SpMV and a copy, and which bars are met",
    ),
    "gpu-calls": ("perf.gpu_calls", "what a call on a GPU takes beside its loop, and to look at its result"),
    "gather-formats": (
        "perf.gather_formats",
        "HYB, bins and CSR as formats to gather from: bytes, lanes, and times on a GPU; HPGraph's steps",
    ),
    "gpu-strategies": ("perf.gpu_strategies", "ways to walk neighbours on a GPU, all or those of the papers"),
    "gpu-tuning": ("perf.gpu_tuning", "what was tried with the blocks of the GPU's loop, beside what it is"),
    "gpu-papers": (
        "perf.gpu_papers",
        "the papers' tables of ways to walk neighbours on a GPU, from the store",
    ),
    "workload": ("perf.workload_report", "PageRank's workload by models: predicted, counted, beside time"),
    "gpu-orders": (
        "perf.gpu_orders",
        "what the order of the vertices does to PageRank on a GPU, from the store",
    ),
    "graphie": ("perf.graphie_traffic", "what Graphie's edge partitions move over the link, counted"),
    "streamed": ("perf.streamed", "apps on a GPU whose edges do not fit, beside the same in memory"),
    "readme": ("perf.readme", "write the tables of README and guide from the committed results"),
    "figures": ("perf.figures", "draw the figures and tables of the paper for this machine"),
    "plot": ("perf.plot", "draw the log of steps: which strategy is fastest where, beside the optimum"),
    "evolve": ("perf.evolve", "draw how the evolutionary generator comes to its degrees"),
}


def _run(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print("Measure gpop on this machine. Each command: python -m perf COMMAND --help\n")
        for name, (_, about) in COMMANDS.items():
            print(f"  {name:16} {about}")
        return 0
    if argv[0] not in COMMANDS:
        raise UsageError(f"perf has no command {argv[0]!r}: expected one of {', '.join(COMMANDS)}")
    # The word itself is handed on where a module serves several commands.
    rest = argv if argv[0] in ("list", "query") else argv[1:]
    return importlib.import_module(COMMANDS[argv[0]][0]).main(rest)


def main(argv: list[str] | None = None) -> int:
    """Run a command, or list them; returns the exit code."""
    return exit_code(lambda: _run(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
