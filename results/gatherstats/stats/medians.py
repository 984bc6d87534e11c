"""Medians and their intervals, vectorised: thousands of short arrays take the time of a few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special, stats

LEVEL = 0.95
"""The level of every interval."""


def medians(arrays: Sequence[np.ndarray]) -> list[float]:
    """Return the median of each array; none may be empty."""
    by_size: dict[int, list[int]] = {}
    for i, array in enumerate(arrays):
        by_size.setdefault(array.size, []).append(i)
    result = [0.0] * len(arrays)
    for indices in by_size.values():
        rows = np.stack([arrays[i] for i in indices])
        for i, value in zip(indices, np.median(rows, axis=1)):
            result[i] = float(value)
    return result


def weighted_medians(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of each row: half of the weight lies on either side of it.

    If half of the weight ends exactly between two values, it is their mean, as for the median.
    """
    order = np.argsort(rows, axis=1)
    in_order = np.take_along_axis(rows, order, axis=1)
    summed = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    half = summed[:, -1:] / 2
    rounding = half * 1e-12
    ends = [np.argmax(summed >= half - rounding, axis=1)]
    ends.append(np.argmax(summed > half + rounding, axis=1))
    return np.mean([in_order[np.arange(len(rows)), end] for end in ends], axis=0)


def median_interval(
    sorted_times: np.ndarray, taken_at: float = LEVEL
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the medians of sorted rows of positive times, and the distances down and up to their
    intervals' ends.

    All are logarithms. The interval is a pair of order statistics, valid for any distribution (H.
    A. David, H. N. Nagaraja, "Order Statistics", 3rd ed., 2003, section 7.1): the k-th values from
    both ends, with the largest k whose interval covers the median at `taken_at` or more (or the two
    extremes, if even they cover it less). If that pair's exact level is below LEVEL, the distances
    are scaled up to it, as for a normal distribution. They are never scaled down: the gap between
    two modes is empty, and half of the distance to the other mode would cover neither.
    """
    n = sorted_times.shape[-1]
    k = max(1, int(stats.binom.ppf((1 - taken_at) / 2, n, 0.5)))
    missed = float(stats.binom.cdf(k - 1, n, 0.5))
    scale = max(1.0, float(special.ndtri((1 - LEVEL) / 2) / special.ndtri(missed)))
    logs = np.log(sorted_times)
    middle = np.log(np.median(sorted_times, axis=-1))
    return (
        middle,
        (middle - logs[..., k - 1]) * scale,
        (logs[..., n - k] - middle) * scale,
    )
