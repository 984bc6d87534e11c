"""Removes drift: changes of the whole machine's speed, by warming up, clock, disk or other guests.

Each repetition is divided by its own row's median. Only its deviation remains: differences between
rows play no part and cannot be removed. All rows' deviations are then sorted by time, and each is
divided by the median of the ten around it, itself left out. Drift biases the rows' medians too, so
a second pass uses the medians of the first pass's result.

All times and medians that are shown are without drift. No verdict depends on it: the test
(gatherstats.stats.rank_test) compares repetitions with their neighbours in time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import special, stats

from gatherstats.data.rows import Row
from gatherstats.stats.medians import medians
from gatherstats.stats.repetitions import Moments, Repetitions, Timeline

NEIGHBOURS = 10
"""Repetitions around one, in time, whose median is the drift at that moment: four disturbed ones among them
do not move it, six do."""

DRIFT_LEVEL = 0.01
"""The chance of reporting drift in a run without any."""


@dataclass(frozen=True)
class Drift:
    """The amount of drift, as ratios to a row's median; 1 is none.

    low, high: the 5th and 95th percentile of the drift.
    scatter_before, scatter_after: the repetitions' scatter around their rows' medians, as a
    standard deviation estimated from the interquartile range (a few outliers do not count).
    removed: whether it was removed. It is not if neighbours in time agree no better than by chance,
    or if removal would add to the scatter.
    """

    low: float
    high: float
    scatter_before: float
    scatter_after: float
    removed: bool


def remove_drift(rows: Sequence[Row]) -> tuple[list[Repetitions], Drift | None]:
    """Return the rows' repetitions without drift, in the given order, and the amount of drift.

    Rows without starting times, failed rows and rows with a time of zero come back unchanged,
    without moments. Nothing is removed from fewer than twice NEIGHBOURS repetitions in all, or if
    no drift stands out from the scatter.
    """
    result = [Repetitions(row.times_s, step_s=row.step_s) for row in rows]
    used = [i for i, row in enumerate(rows) if _is_usable(row)]
    if not used:
        return result, None
    sizes = [rows[i].times_s.size for i in used]
    order = np.argsort(np.concatenate([rows[i].start_s for i in used]), kind="stable")
    ends = np.cumsum(sizes)[:-1]
    # Logarithms turn ratios into differences.
    logs = np.split(np.log(np.concatenate([rows[i].times_s for i in used])), ends)
    clean, measured = _without(logs, order, ends)
    centres = np.repeat(medians(clean), sizes)
    timeline = Timeline((np.concatenate(logs) - centres)[order])
    positions = np.empty(order.size, dtype=int)
    positions[order] = np.arange(order.size)
    for i, one, own, places in zip(used, clean, logs, np.split(positions, ends)):
        times_s = np.exp(one) if measured and measured.removed else rows[i].times_s
        moments = Moments(timeline, places, own, _rounds(rows[i]))
        result[i] = Repetitions(times_s, moments, rows[i].step_s)
    return result, measured


def _without(
    logs: list[np.ndarray], order: np.ndarray, ends: np.ndarray
) -> tuple[list[np.ndarray], Drift | None]:
    """Return the logarithms of times without drift, and the amount; unchanged if there was none."""
    if order.size < 2 * NEIGHBOURS:
        return logs, None
    clean = logs
    for _ in range(2):
        centred = [one - centre for one, centre in zip(logs, medians(clean))]
        deviations = np.concatenate(centred)
        drift = np.empty_like(deviations)
        drift[order] = median_of_neighbours(deviations[order])
        clean = [one - part for one, part in zip(logs, np.split(drift, ends))]
    measured = _measure(deviations[order], drift[order])
    return (clean if measured.removed else logs), measured


def median_of_neighbours(values: np.ndarray) -> np.ndarray:
    """Return for each value the median of the NEIGHBOURS around it, itself left out.

    Near the ends the nearest full window is used: all windows have the same size.
    """
    size = NEIGHBOURS + 1
    windows = sliding_window_view(values, size)
    positions = np.arange(values.size)
    first = np.clip(positions - NEIGHBOURS // 2, 0, values.size - size)
    others = np.arange(size) != (positions - first)[:, np.newaxis]
    return np.median(windows[first][others].reshape(-1, NEIGHBOURS), axis=1)


def autocorrelation(values: np.ndarray) -> float:
    """Return the correlation of each value with the next one in time; 0 for fewer than three values."""
    if values.size < 3 or np.ptp(values[:-1]) == 0 or np.ptp(values[1:]) == 0:
        return 0.0
    return float(np.corrcoef(values[:-1], values[1:])[0, 1])


def _rounds(row: Row) -> np.ndarray | None:
    rounds = row.counters.get("round")
    return rounds if rounds is not None and rounds.size == row.times_s.size else None


def _is_usable(row: Row) -> bool:
    return (
        row.has_repetitions
        and row.start_s is not None
        and bool(np.all(row.times_s > 0))
    )


def _measure(deviations: np.ndarray, drift: np.ndarray) -> Drift:
    """Measure the drift in deviations, sorted by time."""
    low, high = np.exp(np.quantile(drift, [0.05, 0.95]))
    before = stats.iqr(deviations, scale="normal")
    after = stats.iqr(deviations - drift, scale="normal")
    removed = bool(after < before and _agree(deviations))
    return Drift(
        float(low),
        float(high),
        float(np.expm1(before)),
        float(np.expm1(after)),
        removed,
    )


def _agree(values: np.ndarray) -> bool:
    """Whether neighbours in time agree better than by chance, wrong in DRIFT_LEVEL of all runs.

    The test is the ranks' autocorrelation (R. Bartels, Journal of the American Statistical Association 77,
    1982, 40-46), which few very slow repetitions cannot make.
    """
    limit = float(special.ndtri(1 - DRIFT_LEVEL))
    return autocorrelation(stats.rankdata(values)) * math.sqrt(values.size) > limit
