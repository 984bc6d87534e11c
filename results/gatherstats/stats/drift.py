"""Takes out of the repetitions what the whole machine did: warming up, clock, disk, other guests.

Each repetition is divided by its own row's median, so that only its deviation remains; the rows'
differences play no part and cannot be removed. All rows' deviations are then put in the order of
time, and what the neighbours of each repetition tell about it is taken out of it: the median of the
ten around it, and a share of what the three nearest on each side lie above or below that. How large
the shares are, the run itself says, by least squares: a steady machine has none. No repetition plays
a part in what is taken out of itself. A row's median is itself uncertain by drift, so this is done
again with the medians of what came out.

What cannot be taken out still shows when the machine was disturbed: a repetition counts the less,
the more those next to it differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import stats

from gatherstats.data.rows import Row
from gatherstats.stats.medians import medians
from gatherstats.stats.repetitions import Repetitions

NEIGHBOURS = 10
"""How many repetitions around one, in time, tell how fast the machine was at that moment."""

NEAREST = 3
"""How many repetitions on each side, the nearest, are looked at one by one."""

FEWEST_TO_LEARN = 100
"""Repetitions in all below which the shares of the nearest would be learned from chance."""

LIMITS = (0.05, 0.7)
"""Quantiles at which deviations end when the shares are learned and used: how far out a disturbed
repetition lies tells nothing about the next. Disturbances only ever add to a time, so more of the
upper side is disturbed."""

FEWEST_TO_WEIGH = 26
"""Repetitions of a row from which on they may count differently. With fewer on both sides the rank
test is exact, which takes equal ones."""

STEADIEST = 0.3
"""How little the nearest differ, as a share of what is typical, at which a repetition's weight stops
growing: six of them may agree so well by chance."""

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


def remove_drift(rows: Sequence[Row]) -> tuple[list[Repetitions], Drift | None]:
    """The rows' repetitions without drift, in the given order, and how much there was.

    Rows without starting times, failed rows and rows with a time of zero come back as they are.
    With too few repetitions in all (fewer than twice NEIGHBOURS) nothing is removed, nor where
    the estimated drift is mere noise, so that dividing by it adds to the scatter.
    """
    result = [Repetitions(row.times_s, step_s=row.step_s) for row in rows]
    used = [i for i, row in enumerate(rows) if _is_usable(row)]
    sizes = [rows[i].times_s.size for i in used]
    if sum(sizes) < 2 * NEIGHBOURS:
        return result, None
    order = np.argsort(np.concatenate([rows[i].start_s for i in used]), kind="stable")
    # Logarithms turn ratios into differences.
    ends = np.cumsum(sizes)[:-1]
    clean = logs = np.split(
        np.log(np.concatenate([rows[i].times_s for i in used])), ends
    )
    for _ in range(PASSES):
        centred = [one - centre for one, centre in zip(logs, medians(clean))]
        deviations = np.concatenate(centred)
        drift = np.empty_like(deviations)
        drift[order] = _estimate_drift(deviations[order])
        clean = [one - part for one, part in zip(logs, np.split(drift, ends))]
    measured = _measure(deviations, drift)
    if not measured.removed:
        return result, measured
    weights: Sequence[np.ndarray | None] = [None] * len(used)
    if max(sizes) >= FEWEST_TO_WEIGH:
        steadiness = np.empty_like(drift)
        steadiness[order] = _weights_in_time((deviations - drift)[order])
        weights = np.split(steadiness, ends)
    for i, one, own in zip(used, clean, weights):
        enough = one.size >= FEWEST_TO_WEIGH
        result[i] = replace(
            result[i], times_s=np.exp(one), weights=own if enough else None
        )
    return result, measured


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


def _estimate_drift(values: np.ndarray) -> np.ndarray:
    """For each value, in the order of time, what those around it say that it is."""
    level = median_of_neighbours(values)
    if values.size < FEWEST_TO_LEARN:
        return level
    low, high = np.quantile(values - level, LIMITS)
    # Of each pair of nearest neighbours, the one before and the one after count the same.
    known = [np.ones(values.size)]
    for before, after in _nearest(values):
        known.append(np.clip(before - level, low, high))
        known[-1] += np.clip(after - level, low, high)
    matrix = np.stack(known, axis=1)
    shares, *_ = np.linalg.lstsq(matrix, np.clip(values - level, low, high), rcond=None)
    told = level + matrix @ shares
    # What was learned between LIMITS leaves the middle of all a little off, and every pass would add
    # to that.
    return told + np.median(values - told)


def _weights_in_time(residuals: np.ndarray) -> np.ndarray:
    """The weights of values in the order of time: 1 where those around differ as is typical.

    The root of that share: how much those around differ is itself known from six only. They are
    compared with each other and not with their rows' medians, whose errors would have part in it:
    a row whose median came out too low would have more weight where it was low.
    """
    around = np.concatenate(_nearest(residuals))
    spread = np.median(np.abs(around - np.median(around, axis=0)), axis=0)
    typical = np.median(spread)
    if typical == 0:
        return np.ones(spread.size)
    return np.sqrt(typical / np.maximum(spread, STEADIEST * typical))


def _nearest(values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each distance up to NEAREST the value so far before and the one so far after each.

    Where one side has no more, it is the other side's.
    """
    positions = np.arange(values.size)
    pairs = []
    for distance in range(1, NEAREST + 1):
        before, after = positions - distance, positions + distance
        pairs.append(
            (
                values[np.where(before < 0, after, before)],
                values[np.where(after >= values.size, before, after)],
            )
        )
    return pairs


def is_in_random_order(rows: Sequence[Row]) -> bool:
    """Whether the rows' repetitions were mixed in time; True also where that is not known.

    A rank test is valid because chance decided the order. If each row was over before the next
    began, whatever changed in between looks like a difference between the rows.
    """
    usable = [row for row in rows if _is_usable(row) and row.times_s.size >= 2]
    if len(usable) < 2:
        return True
    owner = np.repeat(np.arange(len(usable)), [row.times_s.size for row in usable])
    starts = np.concatenate([row.start_s for row in usable])
    in_time = owner[np.argsort(starts, kind="stable")]
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
