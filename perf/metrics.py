"""Aggregate metrics over implementations and variants (M. Verstraaten's thesis, section 4.3).

``times[i, v]`` is the time of implementation ``i`` on variant ``v`` (a graph with a source), or
``times[i, v, s]`` where a run has steps (levels of a BFS); nan for steps that a variant does not have.
Everything is relative to an optimum that switches for free: the best implementation of every variant, or
of every step. *Best non-switching* takes the best whole run of every variant.

Relative standard errors: see also perf/uncertainty.py, which they build on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpop.common.errors import UsageError
from perf.uncertainty import LARGE, rse_of_ratio

BEST_NON_SWITCHING = "best non-switching"


class Summary(NamedTuple):
    """One row: ratios to the optimum; ``below_2``, ``above_5``, ``above_20`` are shares of the variants."""

    name: str
    total: float
    average: float
    below_2: float
    above_5: float
    above_20: float
    worst: float


def whole_runs(times: np.ndarray) -> np.ndarray:
    """Time of every run: the sum of its steps, if it has any.

    >>> whole_runs(np.array([[[1.0, 2.0, np.nan]]]))
    array([[3.]])
    """
    times = np.asarray(times, float)
    if times.ndim not in (2, 3):
        raise UsageError(f"times have {times.ndim} dimensions: expected implementations, variants [, steps]")
    missing = np.isnan(times)
    if np.any(missing != missing[:1]) or np.any(times <= 0):
        raise UsageError("times: expected a number above 0 of every implementation for the same measurements")
    return times if times.ndim == 2 else np.nansum(times, axis=2)


def best_non_switching(times: np.ndarray) -> np.ndarray:
    """Per variant, the time of the implementation that is best for the whole run.

    >>> best_non_switching(np.array([[100, 300], [150, 150], [300, 100]]))
    array([100., 100.])
    """
    return whole_runs(times).min(axis=0)


def optimum(times: np.ndarray) -> np.ndarray:
    """Per variant, the sum over its steps of the best time of any implementation.

    >>> optimum(np.array([[[1, 9]], [[8, 2]]])), best_non_switching(np.array([[[1, 9]], [[8, 2]]]))
    (array([3.]), array([10.]))
    """
    whole_runs(times)
    best = np.asarray(times, float).min(axis=0)
    return best if best.ndim == 1 else np.nansum(best, axis=1)


def summarise(name: str, runs: np.ndarray, best: np.ndarray) -> Summary:
    """The metrics of one implementation: its time and the optimum of every variant.

    >>> summarise("A", np.array([200, 500, 2100]), np.array([100, 100, 100]))[1:]
    (9.333333333333334, 9.333333333333334, 0.0, 0.3333333333333333, 0.3333333333333333, 21.0)
    """
    ratio = runs / best
    return Summary(
        name,
        float(runs.sum() / best.sum()),
        float(ratio.mean()),
        float(np.mean(ratio < 2)),
        float(np.mean(ratio > 5)),
        float(np.mean(ratio > 20)),
        float(ratio.max()),
    )


def summaries(names: list[str], times: np.ndarray, relative_to: str = "optimal") -> list[Summary]:
    """A row per implementation, the best total first.

    Relative to the optimum there is a row for the best non-switching choice where runs have steps
    (without steps it is the optimum).

    Parameters
    ----------
    names : list of str
    times : array, (implementations, variants) or (implementations, variants, steps)
    relative_to : "optimal" or "best non-switching"

    Examples
    --------
    >>> for row in summaries(["A", "B", "C"], np.array([[100, 300], [150, 150], [300, 100]])):
    ...     print(row.name, row.total, row.average)
    B 1.5 1.5
    A 2.0 2.0
    C 2.0 2.0
    """
    if relative_to not in ("optimal", BEST_NON_SWITCHING):
        raise UsageError(f"relative to {relative_to!r}: expected optimal or {BEST_NON_SWITCHING}")
    runs = whole_runs(times)
    if len(names) != len(runs):
        raise UsageError(f"{len(names)} names for {len(runs)} implementations: expected one each")
    best = optimum(times) if relative_to == "optimal" else best_non_switching(times)
    rows = [summarise(name, run, best) for name, run in zip(names, runs, strict=True)]
    if relative_to == "optimal" and np.ndim(times) == 3:
        rows.append(summarise(BEST_NON_SWITCHING, best_non_switching(times), best))
    return sorted(rows, key=lambda row: row.total)


def table(rows: list[Summary]) -> str:
    """Rows as the thesis prints them: ratios with two decimals, shares in whole percent.

    >>> print(table(summaries(["B"], np.array([[1.5, 1.5]]))))
    implementation          Total     Avg  1-2x   >5x  >20x    Worst
    B                        1.00    1.00  100%    0%    0%     1.00
    """
    lines = [f"{'implementation':20}{'Total':>9}{'Avg':>8}{'1-2x':>6}{'>5x':>6}{'>20x':>6}{'Worst':>9}"]
    for row in rows:
        shares = "".join(f"{share:6.0%}" for share in (row.below_2, row.above_5, row.above_20))
        lines.append(f"{row.name:20}{row.total:9.2f}{row.average:8.2f}{shares}{row.worst:9.2f}")
    return "\n".join(lines)


def total_rse(rse_runs: np.ndarray, rse_best: np.ndarray) -> float:
    """Bound of the RSE of a Total: that of a sum is at most its summands' largest.

    >>> round(total_rse(np.array([0.03, 0.01]), np.array([0.04, 0.02])), 3)
    0.05
    """
    return rse_of_ratio(float(np.max(rse_runs)), float(np.max(rse_best)))


def unsure_share(times: np.ndarray, rse: np.ndarray) -> np.ndarray:
    """Per implementation, the share of its total time made of measurements whose RSE is large.

    >>> unsure_share(np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([[0.01, 0.06], [0.05, 0.0]]))
    array([0.75, 0.  ])
    """
    times, rse = np.asarray(times, float), np.asarray(rse, float)
    flat = times.reshape(len(times), -1)
    large = np.where(rse.reshape(len(times), -1) > LARGE, flat, 0)
    return np.nansum(large, axis=1) / np.nansum(flat, axis=1)
