"""Makes rows ready to be compared: their repetitions without drift, or their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.drift import Drift, remove_drift
from gatherstats.rows import Row
from gatherstats.verdict import Sample


@dataclass(frozen=True)
class Measured:
    """A row and what of it is compared; sample is None for a row that failed."""

    row: Row
    sample: Sample | None

    @property
    def centre_s(self) -> float | None:
        """What the ratio is made of, in seconds: the median, or a summary's mean or median."""
        if self.sample is None:
            return None
        if isinstance(self.sample, np.ndarray):
            return float(np.median(self.sample))
        known = self.sample
        return known.mean_s if known.can_be_tested else known.median_s or known.mean_s

    @property
    def n(self) -> int | None:
        """How many values the sample has, None where that is not known."""
        if isinstance(self.sample, np.ndarray):
            return int(self.sample.size)
        return self.sample.n if self.sample else None


def measure(rows: Sequence[Row]) -> tuple[list[Measured], Drift | None]:
    """The rows of one run in their order, and how much drift was taken out."""
    times, drift = remove_drift(rows)
    return [Measured(row, _sample(row, t)) for row, t in zip(rows, times)], drift


def _sample(row: Row, times_s: np.ndarray) -> Sample | None:
    if row.failed:
        return None
    return times_s if row.has_repetitions else row.aggregates
