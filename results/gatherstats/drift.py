"""Takes out of the repetitions what the whole machine did slowly: warming up, clock, disk state.

Each repetition is divided by its own row's median, so that only its deviation remains; the rows'
differences play no part and cannot be removed. All rows' deviations are then put in the order of
time, and each repetition is divided by the median of the ten around it. A row's median is itself
uncertain by drift, so this is done again with the medians of what came out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats

from gatherstats.medians import medians
from gatherstats.rows import Row

NEIGHBOURS = 10
"""How many repetitions around one, in time, tell how fast the machine was at that moment."""

PASSES = 3
"""How often the rows' medians and the drift are found from each other; more changes nothing."""


@dataclass(frozen=True)
class Drift:
    """How much drift there was; ratios to a row's median, 1 meaning none.

    low, high: the 5th and 95th percentile of the drift.
    scatter_before, scatter_after: the repetitions' scatter around their rows' medians, as a
    standard deviation estimated from the interquartile range (a few outliers do not count).
    removed: whether it was removed; not where that would only have added to the scatter.
    """

    low: float
    high: float
    scatter_before: float
    scatter_after: float

    @property
    def removed(self) -> bool:
        return self.scatter_after < self.scatter_before


def remove_drift(rows: Sequence[Row]) -> tuple[list[np.ndarray], Drift | None]:
    """The rows' times without drift, in seconds and in the given order, and how much there was.

    Rows without starting times, failed rows and rows with a time of zero come back as they are.
    With too few repetitions in all (fewer than twice NEIGHBOURS) nothing is removed, nor where
    the estimated drift is mere noise, so that dividing by it adds to the scatter.
    """
    times = [row.times_s for row in rows]
    used = [i for i, row in enumerate(rows) if _is_usable(row)]
    if sum(times[i].size for i in used) < 2 * NEIGHBOURS:
        return times, None
    order = np.argsort(np.concatenate([rows[i].start_s for i in used]), kind="stable")
    # Logarithms turn ratios into differences.
    ends = np.cumsum([times[i].size for i in used])[:-1]
    clean = logs = np.split(np.log(np.concatenate([times[i] for i in used])), ends)
    for _ in range(PASSES):
        centred = [one - centre for one, centre in zip(logs, medians(clean))]
        deviations = np.concatenate(centred)
        drift = np.empty_like(deviations)
        drift[order] = median_of_neighbours(deviations[order])
        clean = [one - part for one, part in zip(logs, np.split(drift, ends))]
    measured = _measure(deviations, drift)
    if measured.removed:
        for i, one in zip(used, clean):
            times[i] = np.exp(one)
    return times, measured


def median_of_neighbours(values: np.ndarray) -> np.ndarray:
    """For each value the median of the NEIGHBOURS around it, itself left out.

    Near the two ends the window is the nearest full one, so that it always has the same size.
    """
    size = NEIGHBOURS + 1
    windows = sliding_window_view(values, size)
    positions = np.arange(values.size)
    first = np.clip(positions - NEIGHBOURS // 2, 0, values.size - size)
    others = np.arange(size) != (positions - first)[:, np.newaxis]
    return np.median(windows[first][others].reshape(-1, NEIGHBOURS), axis=1)


def is_in_random_order(rows: Sequence[Row]) -> bool:
    """Whether the rows' repetitions were mixed in time; True also where that is not known.

    A rank test is valid because chance decided the order. If each row was over before the next
    began, whatever changed in between looks like a difference between the rows.
    """
    usable = [row for row in rows if _is_usable(row) and row.times_s.size >= 2]
    if len(usable) < 2:
        return True
    owner = np.repeat(np.arange(len(usable)), [row.times_s.size for row in usable])
    in_time = owner[np.argsort(np.concatenate([row.start_s for row in usable]))]
    return int(np.count_nonzero(np.diff(in_time))) > len(usable) - 1


def autocorrelation(values: np.ndarray) -> float:
    """The correlation of each value with the next one in time; 0 for fewer than three values."""
    if values.size < 3 or np.ptp(values[:-1]) == 0 or np.ptp(values[1:]) == 0:
        return 0.0
    return float(np.corrcoef(values[:-1], values[1:])[0, 1])


def _is_usable(row: Row) -> bool:
    return (
        row.has_repetitions
        and row.start_s is not None
        and bool(np.all(row.times_s > 0))
    )


def _measure(deviations: np.ndarray, drift: np.ndarray) -> Drift:
    low, high = np.exp(np.quantile(drift, [0.05, 0.95]))
    before = stats.iqr(deviations, scale="normal")
    after = stats.iqr(deviations - drift, scale="normal")
    return Drift(
        float(low), float(high), float(np.expm1(before)), float(np.expm1(after))
    )
