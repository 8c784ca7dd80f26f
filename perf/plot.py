"""``python -m perf plot``: figures and tables of M. Verstraaten's thesis, from the store's log of steps.

    python -m perf add strategies bfs && python -m perf add run-config data --apps bfs
    python -m perf run-benchmarks
    python -m perf plot --app bfs --folder plots
    python -m perf plot --models half,all --least-vertices 10000

Which variants (a graph and where the run began) are worth a look and why; bars of their steps, of whole runs
and beside the optimum, which takes the fastest strategy in every step; heat maps of all; the table of
aggregates, also of trees (``--models``, see `perf model`). Tables are Markdown, CSV and LaTeX. ``index.md``
names all and says what they show, in sentences computed from the log.
"""

from __future__ import annotations

from pathlib import Path

from gpop.common.command import exit_code, fail
from gpop.execution.asked import COMPILED_TARGETS
from perf.algorithms import ALGORITHMS
from perf.models import model_named
from perf.parser import with_store
from perf.pictures.log_sheet import LogSheet
from perf.pictures.sheet import made
from perf.provenance import head, perf_command
from perf.steps import Which, described, read_log
from perf.store import Store

PICTURES = {  # name of the files: module
    "aggregate": "perf.pictures.aggregate",
    "report": "perf.pictures.variant_report",
    "bars-levels": "perf.pictures.level_bars",
    "bars-totals": "perf.pictures.total_bars",
    "bars-vs-optimal": "perf.pictures.optimum_bars",
    "heatmap-totals": "perf.pictures.total_heat",
    "heatmap-levels": "perf.pictures.level_heat",
}


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _run(argv: list[str]) -> int:
    parser = with_store("plot", __doc__)
    parser.add_argument("--folder", type=Path, default=Path("plots"), help="default: %(default)s")
    parser.add_argument("--app", choices=ALGORITHMS, default="bfs", help="default: %(default)s")
    parser.add_argument("--target", choices=COMPILED_TARGETS, default="cpu", help="default: %(default)s")
    parser.add_argument("--platform", help="where several were measured")
    parser.add_argument("--threads", type=int, help="where several were measured")
    parser.add_argument("--datasets", type=_words, default=[], help="by default all")
    parser.add_argument("--models", type=_words, default=[], help="trees of perf model, as predictors")
    parser.add_argument("--variants", type=int, default=6, help="with bars; default: %(default)s")
    parser.add_argument("--least-vertices", type=int, default=0, help="of a graph; default: %(default)s")
    parser.add_argument("--least-edges", type=int, default=0, help="of a graph; default: %(default)s")
    given = parser.parse_args(argv)
    if given.variants < 1:
        parser.error("expected --variants from 1 on")
    try:
        import matplotlib  # noqa: F401 - before reading the store, not after
    except ImportError:
        return fail("plots need matplotlib (pip install matplotlib)", 2)
    words = perf_command("plot", argv)
    with Store(given.store, create=False) as store:
        which = Which(given.app, given.target, given.platform, given.threads, tuple(given.datasets))
        log = read_log(store, which)
        trees = {name: model_named(store, name).tree for name in given.models}
    least = (given.least_vertices, given.least_edges)
    sheet = LogSheet(given.folder, words, log, trees, given.variants, least)
    made(given.folder)
    heading = [f"# Strategies of {given.app} on target {given.target}, step by step", ""]
    heading += [f"- {line}" for line in head(words).splitlines()]
    heading += [
        f"- measured: {described(sheet.steps)}, {log.threads} threads, {log.platform}, gpop {log.version}"
    ]
    heading += [f"- left out: {log.left_out} steps in which strategies differ"] if log.left_out else []
    sheet.draw([*heading, ""], PICTURES)
    print(f"{given.folder / 'index.md'}: {len(PICTURES)} figures and tables; {described(sheet.steps)}")
    return 0


def main(argv: list[str]) -> int:
    """Draw what the log says."""
    return exit_code(lambda: _run(argv))
