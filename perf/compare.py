"""``python -m perf compare a.json b.json``: what changed between two files of bench, and what is only noise.

For each benchmark in both: the medians, their ratio with its relative standard error (of the means, see
perf/uncertainty.py), and a verdict by SciPy's Welch test. Processes differ among themselves, so the test
compares the processes' means where both sides have at least three, else all values. As many are tested,
p-values are adjusted (Benjamini and Hochberg): of what is called a change, at most 5 % are expected to be
none.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any, NamedTuple

from gpop.common.command import exit_code
from gpop.common.errors import UsageError
from perf.parser import documented
from perf.uncertainty import flag, rse_of_mean, rse_of_ratio

SIGNIFICANT = 0.05
LEAST_PROCESSES = 3


class Change(NamedTuple):
    """One benchmark on both sides; ``p`` is None where there are too few values to tell."""

    name: str
    before: float
    after: float
    ratio_rse: float
    p: float | None


def samples(before: Any, after: Any) -> tuple[list[float], list[float]]:
    """What is tested: means of processes, or all values where processes are few."""
    sides = [
        [statistics.fmean(run.values) for run in side.get_runs() if run.values] for side in (before, after)
    ]
    if min(map(len, sides)) >= LEAST_PROCESSES:
        return sides[0], sides[1]
    return list(before.get_values()), list(after.get_values())


def changes(before: Any, after: Any) -> list[Change]:
    """All benchmarks that two pyperf suites share, with adjusted p-values."""
    from scipy import stats

    others = {benchmark.get_name(): benchmark for benchmark in after.get_benchmarks()}
    found = []
    for old in before.get_benchmarks():
        new = others.get(old.get_name())
        if new is None:
            continue
        pair = samples(old, new)
        enough = min(map(len, pair)) > 1 and max(map(statistics.pstdev, pair)) > 0
        p = float(stats.ttest_ind(*pair, equal_var=False).pvalue) if enough else None
        errors = [
            rse_of_mean(statistics.fmean(side), statistics.stdev(side) if len(side) > 1 else 0.0, len(side))
            for side in pair
        ]
        found.append(Change(old.get_name(), old.median(), new.median(), rse_of_ratio(*errors), p))
    tested = [change for change in found if change.p is not None]
    adjusted = stats.false_discovery_control([change.p for change in tested]) if tested else []
    by_name = {change.name: float(p) for change, p in zip(tested, adjusted, strict=True)}
    return [change._replace(p=by_name.get(change.name)) for change in found]


def verdict(change: Change) -> str:
    """``faster``, ``slower``, ``noise`` or ``too few values``."""
    if change.p is None:
        return "too few values"
    if change.p >= SIGNIFICANT:
        return "noise"
    return "faster" if change.after < change.before else "slower"


def load_suite(path: Path) -> Any:
    """What bench has written, or a `UsageError`."""
    try:
        import pyperf
    except ImportError:
        raise UsageError("needs pyperf (pip install pyperf)") from None
    try:
        return pyperf.BenchmarkSuite.load(str(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: is no file of bench: {error}") from None


def _compare(argv: list[str]) -> None:
    parser = documented("compare", __doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    given = parser.parse_args(argv)
    before, after = load_suite(given.before), load_suite(given.after)
    found = changes(before, after)
    print(f"{'':60} {'before':>10} {'after':>10}  ms  ratio            p")
    for change in found:
        p = "" if change.p is None else f"{change.p:.3f}"
        print(
            f"{change.name:60} {1e3 * change.before:10.3f} {1e3 * change.after:10.3f}     "
            f"{change.after / change.before:5.3f} ±{change.ratio_rse:5.1%}{flag(change.ratio_rse):1} {p:>6}  "
            f"{verdict(change)}"
        )
    names = [{benchmark.get_name() for benchmark in suite.get_benchmarks()} for suite in (before, after)]
    for path, only in ((given.before, names[0] - names[1]), (given.after, names[1] - names[0])):
        for name in sorted(only):
            print(f"only in {path}: {name}")


def main(argv: list[str]) -> int:
    """Compare; returns the exit code."""
    return exit_code(lambda: _compare(argv))
