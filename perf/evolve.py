"""``python -m perf evolve``: the figures of chapter 5 of M. Verstraaten's thesis, with gpop's generator.

    python -m perf evolve --folder evolution
    python -m perf evolve --sizes 100,1000,10000 --seeds 5 --seconds 60

Degrees of evolved graphs of 100 vertices, how fast each crossover and mutation comes near the target for each
of ``--sizes``, and how mutation alone changes the number of edges. A course ends after ``--generations``, or
after ``--seconds``; what is finished is kept, and the same command continues after an interrupt.
``index.md`` says what the pictures show.
"""

from __future__ import annotations

from pathlib import Path

from gpop.common.command import exit_code, fail
from gpop.common.parallel import worker_count
from perf.add import counts
from perf.parser import documented
from perf.pictures.courses import Courses
from perf.pictures.sheet import made
from perf.provenance import head, perf_command

PICTURES = {  # name of the files: module
    "figure5-degrees": "perf.pictures.evolved_degrees",
    "convergence": "perf.pictures.evolution_convergence",
    "drift": "perf.pictures.evolution_drift",
}


def _run(argv: list[str]) -> int:
    parser = documented("evolve", __doc__)
    parser.add_argument("--folder", type=Path, default=Path("evolution"), help="default: %(default)s")
    parser.add_argument(
        "--sizes", type=counts, default=[100, 1000, 10000], help="vertices; default: 100,1000,10000"
    )
    parser.add_argument("--seeds", type=int, default=3, help="of each course; default: %(default)s")
    parser.add_argument("--generations", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=30, help="of a course; default: %(default)s")
    given = parser.parse_args(argv)
    if given.seeds < 1 or given.generations < 1 or min(given.sizes) < 100:
        parser.error("expected --seeds and --generations from 1 on and --sizes from 100 on")
    try:
        import matplotlib  # noqa: F401 - before minutes of measuring, not after
    except ImportError:
        return fail("figures need matplotlib (pip install matplotlib)", 2)
    made(given.folder)
    words = perf_command("evolve", argv)
    sizes = tuple(sorted(set(given.sizes)))
    courses = Courses(given.folder, words, sizes, given.seeds, given.generations, given.seconds)
    heading = ["# Graphs by evolution: chapter 5 of M. Verstraaten's thesis, here", ""]
    heading += [f"- {line}" for line in head(words).splitlines()]
    heading += [f"- threads: {worker_count()}", ""]
    heading += ["Written by `python -m perf evolve`; the sentences are computed from the data.", ""]
    try:
        courses.draw(heading, PICTURES)
    except KeyboardInterrupt:
        return fail("interrupted; the same command continues", 130)
    print(f"{given.folder / 'index.md'}: {len(PICTURES)} pictures of {len(sizes)} sizes")
    return 0


def main(argv: list[str]) -> int:
    """Evolve and draw."""
    return exit_code(lambda: _run(argv))
