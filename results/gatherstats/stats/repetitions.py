"""A row's repetitions as they are compared: without drift, and with what each of them counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gatherstats.stats.medians import weighted_medians


@dataclass(frozen=True, eq=False)
class Repetitions:
    """What is compared of a row.

    times_s: without drift, in seconds.
    weights: how much each repetition counts, 1 at a typical moment; None where all count the same.
    step_s: in which steps the times were stored, in seconds; 0 where that is finer than they scatter.
    """

    times_s: np.ndarray
    weights: np.ndarray | None = None
    step_s: float = 0.0

    @property
    def size(self) -> int:
        """How many there are."""
        return self.times_s.size

    @property
    def median_s(self) -> float:
        """The weighted median, in seconds; there must be a repetition."""
        if self.weights is None:
            return float(np.median(self.times_s))
        return float(weighted_medians(self.times_s[None], self.weights[None])[0])
