"""``python -m perf figures``: measure what the paper's figures and tables show, on this machine, and draw it.

    python -m perf figures --folder figures
    python -m perf figures --scales 20,22 --threads 16 --real GRAPHS --budget 30
    python -m perf figures --program apps/widest_path.py:WidestPath --folder mine

Times come from a result store in the folder, which is filled as by ``perf run-benchmarks``: every answer is
checked, what is finished is kept, an interrupted command is continued by the same command, and one that
has nothing left to measure only draws. ``--budget`` ends measuring after so many minutes and draws what there
is. ``index.md`` says what was measured and what the pictures show.
Graphs are RMAT of ``--scales`` and, from the folder ``--real``, three real ones, else a uniform graph and a
road network (perf/pictures/plan.py). gpop is measured as it comes, and in each of its modes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from gpop.common.command import exit_code, fail
from gpop.common.parallel import worker_count
from gpop.execution.given import full_name
from perf.add import counts
from perf.hardware import team_sizes
from perf.implementations import FAMILIES, installed, version
from perf.parser import documented
from perf.pictures import PICTURES
from perf.pictures.own_program import draw_all as draw_own
from perf.pictures.plan import REAL, Plan, default_scales, estimate, real_graphs
from perf.pictures.sheet import made
from perf.pictures.study import Study
from perf.provenance import head, perf_command
from perf.run_benchmarks import Tally, run_missing
from perf.store import Store, StoreError

QUICK_SCALE, LEAST_SCALE = 8, 8
REPEATS = 10


def about(study: Study) -> list[str]:
    """What the numbers depend on."""
    plan = study.plan
    peers = [version(family) for family in FAMILIES if family not in ("gpop", "paper") and installed(family)]
    return [
        *(f"- {line}" for line in head(study.words).splitlines()),
        f"- peers: {'; '.join(peers) or 'none'}",
        f"- threads: {', '.join(map(str, plan.threads))}; {plan.most_threads} where nothing else is said",
        f"- each time is the median of {plan.repeats} runs after one that is discarded; "
        "bars reach from the fastest to the slowest",
    ]


def draw_all(study: Study) -> None:
    """Every picture, then the index that names them."""
    lines = ["# Figures and tables of the GPOP paper, measured here", "", *about(study)]
    lines += ["", "Written by `python -m perf figures`; the sentences are computed from the data.", ""]
    study.draw(lines, PICTURES)


def _run(argv: list[str]) -> int:
    parser = documented("figures", __doc__)
    parser.add_argument("--folder", type=Path, default=Path("figures"), help="default: %(default)s")
    parser.add_argument(
        "--scales", type=counts, help="of RMAT, log2 of the vertices; default: 20,22 if they fit"
    )
    parser.add_argument("--real", type=Path, metavar="FOLDER", help=f"with {', '.join(REAL)} (.txt.xz)")
    parser.add_argument("--threads", type=int, default=worker_count(), help="at most; default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of every run; default: %(default)s")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="begin no run after that, then draw")
    parser.add_argument("--quick", action="store_true", help="tiny graphs, to see that everything works")
    parser.add_argument(
        "--program", action="append", default=[], metavar="FILE.py:CLASS", help="only these, of your own"
    )
    given = parser.parse_args(argv)
    programs = [full_name(text) for text in given.program]
    scales = given.scales or ([QUICK_SCALE] if given.quick else default_scales())
    if given.threads < 1 or given.repeats < 1 or min(scales) < LEAST_SCALE:
        parser.error(f"expected --threads and --repeats from 1 on and --scales from {LEAST_SCALE} on")
    repeats = 2 if given.quick else given.repeats
    real = real_graphs(given.real) if given.real else ()
    plan = Plan(tuple(sorted(set(scales))), team_sizes(given.threads), repeats, given.quick, real)
    try:
        import matplotlib  # noqa: F401 - before an hour of measuring, not after
    except ImportError:
        return fail("figures need matplotlib (pip install matplotlib)", 2)
    made(given.folder)
    tally = Tally()
    with Store(given.folder / "perf.db") as store:
        if programs:
            draw_own(Study(plan, store, given.folder, perf_command("figures", argv)), programs)
            print(f"{given.folder / 'index.md'}: figures of {', '.join(given.program)}")
            return 0
        plan.register(store)
        expected, deadline = estimate(store, plan), None
        if expected:
            print(f"about {max(expected / 60, 1):.0f} minutes of measuring, then drawing", flush=True)
        if given.budget is not None:
            deadline = time.monotonic() + 60 * given.budget
        try:
            for dataset, only in plan.turns:
                run_missing(store, only=only, tally=tally, datasets=[dataset], deadline=deadline)
            draw_all(Study(plan, store, given.folder, perf_command("figures", argv)))
        except KeyboardInterrupt:
            return fail(f"interrupted; {tally}; the same command continues", 130)
        except StoreError as error:
            return fail(f"{error}; {tally} before that; the same command continues", 2)
    print(f"{given.folder / 'index.md'}: {len(PICTURES)} figures and tables; {tally}")
    if tally.wrong or tally.failed:
        print("what failed is missing from them", file=sys.stderr)
    return 1 if tally.wrong or tally.failed else 0


def main(argv: list[str]) -> int:
    """Measure and draw; 1 when an answer was wrong or a job failed."""
    return exit_code(lambda: _run(argv))
