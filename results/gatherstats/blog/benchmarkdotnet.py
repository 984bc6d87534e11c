"""The columns of a table, by the definitions of BenchmarkDotNet 0.13.1.

That version produced the tables this suite is compared with. Its sources are
Mathematics/Statistics.cs and, for the interval, ConfidenceInterval.cs; its outlier rule is Tukey's
upper fence (OutlierMode.RemoveUpper).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gatherstats.data.rows import Row

CONFIDENCE = 0.999
"""The level of the interval whose half is called Error."""


@dataclass(frozen=True)
class Summary:
    """One row's figures; times in seconds, None if the data do not give the figure.

    n: the number of repetitions kept; removed: the number of outliers.
    """

    n: int | None
    mean_s: float | None
    error_s: float | None
    stddev_s: float | None
    median_s: float | None
    min_s: float | None = None
    max_s: float | None = None
    removed: int = 0


def summarise(row: Row) -> Summary | None:
    """Summarise one row, None for a row that failed."""
    if row.failed:
        return None
    if row.has_repetitions:
        return summarise_times(row.times_s)
    known = row.aggregates
    if known is None:
        return None
    error_s = half_interval(known.stddev_s, known.n)
    return Summary(
        known.n,
        known.mean_s,
        error_s,
        known.stddev_s,
        known.median_s,
        known.min_s,
        known.max_s,
    )


def summarise_times(times_s: np.ndarray) -> Summary:
    """Summarise repetitions: upper outliers are removed first, also for the median."""
    kept = without_upper_outliers(times_s)
    n = int(kept.size)
    stddev_s = float(np.std(kept, ddof=1)) if n >= 2 else None
    return Summary(
        n,
        float(np.mean(kept)),
        half_interval(stddev_s, n),
        stddev_s,
        float(np.median(kept)),
        removed=int(times_s.size) - n,
    )


def upper_fence(values: np.ndarray) -> float:
    """Return Q3 + 1.5 (Q3 - Q1), with quartiles by linear interpolation at (n-1)p (type 7)."""
    lower_quartile, upper_quartile = np.quantile(values, [0.25, 0.75])
    return float(upper_quartile + 1.5 * (upper_quartile - lower_quartile))


def without_upper_outliers(values: np.ndarray) -> np.ndarray:
    """Return `values` without those above the upper fence; low ones stay."""
    return values[values <= upper_fence(values)]


def half_interval(
    stddev: float | None, n: int | None, level: float = CONFIDENCE
) -> float | None:
    """Return half of a mean's confidence interval: t((1 + level) / 2, n - 1) * stddev / sqrt(n)."""
    if stddev is None or n is None or n < 2:
        return None
    return float(stats.t.ppf((1 + level) / 2, n - 1) * stddev / math.sqrt(n))
