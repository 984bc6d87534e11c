"""A row's repetitions, ready to be compared: without drift, with their moments in the run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Timeline:
    """All repetitions of a run, of all rows, in the order of time.

    deviations: the logarithm of each measured time less that of its row's median (without drift).
    """

    deviations: np.ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of a row's repetitions. One value a repetition, in the row's order.

    positions: where each stands in `timeline`.
    logs: the logarithms of the times as measured, with drift.
    rounds: the round of each, if every row runs once a round in random order; None without rounds.
    """

    timeline: Timeline
    positions: np.ndarray
    logs: np.ndarray
    rounds: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Repetitions:
    """The part of a row that is compared.

    times_s: without drift, in seconds.
    moments: None if unknown.
    step_s: the resolution of the stored times, in seconds; 0 if that is finer than their scatter.
    """

    times_s: np.ndarray
    moments: Moments | None = None
    step_s: float = 0.0

    @property
    def size(self) -> int:
        """The number of repetitions."""
        return self.times_s.size

    @property
    def median_s(self) -> float:
        """The median, in seconds, of at least one repetition."""
        return float(np.median(self.times_s))

    @property
    def measured_s(self) -> np.ndarray:
        """The times as measured; without moments, the times without drift."""
        return self.times_s if self.moments is None else np.exp(self.moments.logs)

    def scaled(self, factor: float) -> Repetitions:
        """Copy the repetitions with all times multiplied by `factor`."""
        moments = self.moments
        if moments is not None:
            moments = replace(moments, logs=moments.logs + np.log(factor))
        return Repetitions(self.times_s * factor, moments, self.step_s * factor)
