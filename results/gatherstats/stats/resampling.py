"""Tests the comparison on a long run's own repetitions, where the right answer is known.

Two samples of one row's repetitions must not differ (A/A). If one of them is multiplied by a known
factor, they should; then the share of differences found is the power of a run of that length.
Samples are drawn from one stretch of the run, as long as a run with so many repetitions would take,
and drift is removed from each draw anew, as the comparison does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gatherstats.data.rows import Row
from gatherstats.stats.drift import autocorrelation, remove_drift
from gatherstats.stats.effect import compare_repetitions
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.verdict import Outcome, Verdict, judge, uncorrected

FOUND = 0.9
"""The power that makes a difference detectable: the share of tries that find it."""

LARGEST = 1.0
"""The largest difference to try, as a share of the time."""

Draw = tuple[Repetitions, Repetitions]
"""Two samples without drift: the base and the other."""


def draw(
    rows: Sequence[Row],
    base: int,
    other: int,
    n: int,
    times: int,
    rng: np.random.Generator,
) -> list[Draw]:
    """Draw `times` pairs of samples with `n` repetitions of rows[base] and of rows[other].

    With base == other they are disjoint halves of 2 n repetitions of one row. All rows must have
    starting times; the other rows' repetitions of the same stretch help to find the drift.
    """
    return [
        without_drift(draw_as_measured(rows, base, other, n, rng)) for _ in range(times)
    ]


def draw_as_measured(
    rows: Sequence[Row], base: int, other: int, n: int, rng: np.random.Generator
) -> list[Row]:
    """Draw once: returns the base's sample, the other's, and the other rows' repetitions of that time."""
    start, end = _stretch(rows[base], 2 * n, rng)
    inside = [np.flatnonzero((r.start_s >= start) & (r.start_s <= end)) for r in rows]
    first = rng.permutation(inside[base])
    second = first[n:] if base == other else rng.permutation(inside[other])
    rest = [
        _part(row, chosen)
        for i, (row, chosen) in enumerate(zip(rows, inside))
        if i not in (base, other) and chosen.size
    ]
    return [_part(rows[base], first[:n]), _part(rows[other], second[:n]), *rest]


def without_drift(drawn: Sequence[Row]) -> Draw:
    """Remove drift from a draw, as the comparison does; returns its two samples."""
    clean, _ = remove_drift(drawn)
    return clean[0], clean[1]


def verdicts(draws: Sequence[Draw], threshold: float) -> list[Verdict]:
    """Judge each draw alone."""
    return judge(draws, threshold, uncorrected)


def share(found: Sequence[Verdict], *outcomes: Outcome) -> float:
    """Return the share of verdicts that are one of `outcomes`."""
    return sum(verdict.outcome in outcomes for verdict in found) / len(found)


def smallest_found(draws: Sequence[Draw]) -> float | None:
    """Return the smallest slowdown that is found in a share of FOUND of the draws of equal rows.

    As a share of the time, 0.01 for 1 %; None if even LARGEST is not found so often.
    """
    # A factor on a row multiplies the interval too: a slowdown is found if it lifts the lower end
    # above 1. p is nearly always below 0.05 then: it is the same test.
    lows = np.array([effect.low for effect in compare_repetitions(draws)])
    hidden = np.nan_to_num(1 / lows - 1, nan=np.inf)
    smallest = float(np.quantile(hidden, FOUND, method="higher"))
    return max(smallest, 0.0) if smallest <= LARGEST else None


def correlation_in_time(rows: Sequence[Row], times_s: Sequence[np.ndarray]) -> float:
    """Return the correlation of a repetition's deviation from its row's median with the next one's.

    0 is none. The next one is the next in time, of any row.
    """
    deviations = np.concatenate([np.log(t / np.median(t)) for t in times_s])
    order = np.argsort(np.concatenate([row.start_s for row in rows]), kind="stable")
    return autocorrelation(deviations[order])


def _stretch(row: Row, count: int, rng: np.random.Generator) -> tuple[float, float]:
    """Choose the begin and the end of a stretch of `count` repetitions of a row at random."""
    starts = np.sort(row.start_s)
    first = int(rng.integers(0, max(starts.size - count, 0) + 1))
    return float(starts[first]), float(starts[min(first + count, starts.size) - 1])


def _part(row: Row, chosen: np.ndarray) -> Row:
    return replace(row, times_s=row.times_s[chosen], start_s=row.start_s[chosen])
