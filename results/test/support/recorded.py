"""Recorded runs of the blog's loop, in which the right answer is known, and the plain tests of others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.resampling import Draw, share, verdicts, without_drift
from gatherstats.stats.verdict import THRESHOLD, Outcome
from scipy import stats

RECORDED = sorted((Path(__file__).parents[1] / "files").glob("recorded_*.json"))


def as_one(rows: Sequence[Row]) -> Row:
    """All repetitions as one row's, each divided by its own row's median.

    The recorded rows differ in a few per cent of bytes alone, and one of them may not have enough
    repetitions for two large samples.
    """
    times = np.concatenate([row.times_s / np.median(row.times_s) for row in rows])
    starts = np.concatenate([row.start_s for row in rows])
    return Row(parse_name("all"), times, starts)


def slower(repetitions: Repetitions, slowdown: float) -> Repetitions:
    return repetitions.scaled(1 + slowdown)


def found_slower(draws: Sequence[Draw], slowdown: float) -> float:
    """How often the other sample of a draw is called slower once it is."""
    slowed = [(base, slower(other, slowdown)) for base, other in draws]
    return share(verdicts(slowed, THRESHOLD), Outcome.SLOWER)


def found_by_plain_tests(
    drawn: Sequence[Sequence[Row]], slowdown: float, level: float
) -> tuple[float, float, float]:
    """How often plain tests find a difference: a U test, as in Google's compare.py, of the times as
    measured and of those without drift, and Welch's test as measured."""
    measured = [[rows[side].times_s for rows in drawn] for side in (0, 1)]
    clean = zip(*(without_drift(rows) for rows in drawn))
    without = [[one.times_s for one in side] for side in clean]
    tests = (
        (
            measured,
            lambda *sides: stats.mannwhitneyu(*sides, axis=1, method="asymptotic"),
        ),
        (
            without,
            lambda *sides: stats.mannwhitneyu(*sides, axis=1, method="asymptotic"),
        ),
        (measured, lambda *sides: stats.ttest_ind(*sides, axis=1, equal_var=False)),
    )
    return tuple(
        float(np.mean(test(np.stack(a), np.stack(b) * (1 + slowdown)).pvalue < level))
        for (a, b), test in tests
    )
