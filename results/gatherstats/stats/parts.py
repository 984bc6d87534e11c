"""Sums of medians of independent samples, such as the parts of a gain, with their intervals.

The MOVER rule derives a sum's interval from the medians' own intervals (G. Y. Zou, A. Donner,
Statistics in Medicine 27, 2008, 1693-1702). It needs no resampling and no seed, and gives the same
every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.stats.medians import median_interval


@dataclass(frozen=True)
class Part:
    """A time in seconds with its 95 % interval."""

    time_s: float
    low_s: float
    high_s: float

    @property
    def is_clear(self) -> bool:
        """Whether its interval leaves out zero."""
        return self.low_s > 0 or self.high_s < 0

    def moved(self, time_s: float) -> Part:
        """Copy the part with the same uncertainty around another time."""
        by = time_s - self.time_s
        return Part(time_s, self.low_s + by, self.high_s + by)


def combine(terms: Sequence[tuple[float, np.ndarray]]) -> Part:
    """Sum factor * median over samples of times in seconds, with an interval.

    Each sample needs FEWEST_REPETITIONS times, all above zero, and must be independent of the
    others.
    """
    total, below, above = 0.0, 0.0, 0.0
    for factor, times_s in terms:
        middle, down, up = (
            float(v) for v in median_interval(np.sort(times_s)[np.newaxis])
        )
        median_s = math.exp(middle)
        distances = median_s - math.exp(middle - down), math.exp(middle + up) - median_s
        if factor < 0:
            distances = distances[::-1]
        total += factor * median_s
        below += (factor * distances[0]) ** 2
        above += (factor * distances[1]) ** 2
    return Part(total, total - math.sqrt(below), total + math.sqrt(above))
