"""A row's repetitions as they are compared: without drift, and when in the run each was made."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Timeline:
    """All repetitions of a run, of whatever row, in the order of time.

    deviations: the logarithm of each measured time less that of its row's median (without drift).
    """

    deviations: np.ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """When a row's repetitions ran. One value a repetition, in the row's order.

    positions: where each stands in `timeline`.
    logs: the logarithms of the times as measured, drift and all.
    rounds: in which round each ran, where every row runs once a round in an order of chance; None
    for a run without rounds.
    """

    timeline: Timeline
    positions: np.ndarray
    logs: np.ndarray
    rounds: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Repetitions:
    """What is compared of a row.

    times_s: without drift, in seconds.
    moments: None where it is not known when they ran.
    step_s: in which steps the times were stored, in seconds; 0 where that is finer than they scatter.
    """

    times_s: np.ndarray
    moments: Moments | None = None
    step_s: float = 0.0

    @property
    def size(self) -> int:
        """How many there are."""
        return self.times_s.size

    @property
    def median_s(self) -> float:
        """The median, in seconds; there must be a repetition."""
        return float(np.median(self.times_s))

    @property
    def measured_s(self) -> np.ndarray:
        """The times as measured, as far as they are known."""
        return self.times_s if self.moments is None else np.exp(self.moments.logs)

    def scaled(self, factor: float) -> Repetitions:
        """The same with all times multiplied by `factor`."""
        moments = self.moments
        if moments is not None:
            moments = replace(moments, logs=moments.logs + np.log(factor))
        return Repetitions(self.times_s * factor, moments, self.step_s * factor)
