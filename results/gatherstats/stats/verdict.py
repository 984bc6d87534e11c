"""Judges the difference of two rows: same, faster, slower or undecided.

same: the whole 95 % interval of the ratio lies within the threshold of 1. faster, slower: the
interval leaves out 1 and the corrected p is below ALPHA, and it is not "same". Everything else is
undecided, with the number of repetitions that would probably decide it.

Corrections: S. Holm, Scandinavian Journal of Statistics 6, 1979, 65-70, for the pairs of a table;
Y. Benjamini, Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995, 289-300, for a map. The
latter's proof covers independent pairs. The three pairs of a cell (A-B, A-C, B-C) share their rows;
for such pairs a simulation bounds the share of false alarms (test_what_must_hold). "same" is not corrected: it is
wrong for at most one in 20 of the pairs that differ by more than the threshold, in a map too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import optimize, special

from gatherstats.data.rows import Aggregates
from gatherstats.stats.effect import (
    FEWEST_REPETITIONS,
    ROUNDING,
    Effect,
    compare_launches,
    compare_repetitions,
    compare_summaries,
    summary_of,
)
from gatherstats.stats.launches import Launches
from gatherstats.stats.medians import LEVEL
from gatherstats.stats.rank_test import smallest_p
from gatherstats.stats.repetitions import Repetitions

ALPHA = 0.05
"""A difference needs a corrected p below this."""

THRESHOLD = 0.01
"""Differences up to this share of the time count as none; the user may set another."""

POWER = 0.8
"""The chance of a decision with `Verdict.needed` repetitions."""

MOST_NEEDED = 1_000_000
"""Larger numbers of repetitions are not recommended."""

Sample = Repetitions | Aggregates
"""A row's repetitions, or a summary of them."""

Correction = Callable[[np.ndarray], np.ndarray]
"""Corrects the p values of a family of tests."""


class Outcome(str, Enum):
    """The four values of a verdict on the other row against the base."""

    SAME = "same"
    FASTER = "faster"
    SLOWER = "slower"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a pair.

    p_corrected: NaN without a test.
    best_p_corrected: the smallest corrected p that this number of repetitions could have given.
    needed: repetitions of each row that would probably decide it; None if it is decided, if the
    number is unknown (for example with a coarse clock), or above MOST_NEEDED.
    """

    outcome: Outcome
    effect: Effect
    p_corrected: float = math.nan
    best_p_corrected: float = 0.0
    needed: int | None = None

    @property
    def attainable(self) -> bool:
        """Whether this number of repetitions could have given a significant result."""
        return self.best_p_corrected < ALPHA


def holm(p_values: np.ndarray) -> np.ndarray:
    """Apply Holm's correction: the chance of any false alarm in the family stays below ALPHA."""
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(p_values.size, 0, -1)
    corrected = np.empty(p_values.size)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Apply Benjamini and Hochberg's correction: it bounds the share of false alarms among all alarms."""
    order = np.argsort(p_values, kind="stable")[::-1]
    factors = p_values.size / np.arange(p_values.size, 0, -1)
    corrected = np.empty(p_values.size)
    corrected[order] = np.minimum(np.minimum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def uncorrected(p_values: np.ndarray) -> np.ndarray:
    """Leave p as it is: for pairs that are judged one by one."""
    return p_values


def judge(
    pairs: Sequence[tuple[Sample, Sample]],
    threshold: float = THRESHOLD,
    correction: Correction = holm,
    families: Sequence[Hashable] | None = None,
) -> list[Verdict]:
    """Judge (base, other) for each pair.

    families: each pair's family for the correction; by default all pairs are one family.
    """
    effects = _compare(pairs)
    verdicts = [Verdict(Outcome.UNDECIDED, effect) for effect in effects]
    members: dict[Hashable, list[int]] = {}
    for i, family in enumerate(families or [None] * len(effects)):
        if not effects[i].problem:
            members.setdefault(family, []).append(i)
    for tested in members.values():
        corrected = correction(np.array([effects[i].p for i in tested]))
        # A corrected p grows with every p of its family, so this is its lower bound.
        best = correction(np.array([effects[i].best_p for i in tested]))
        strictness = _strictness(correction, corrected)
        for i, p, best_p in zip(tested, corrected, best):
            verdicts[i] = _decide(
                effects[i], float(p), float(best_p), threshold, strictness
            )
    return verdicts


def repetitions_needed(
    effect: Effect, threshold: float, strictness: float
) -> int | None:
    """Estimate the repetitions of each row that decide with a chance of POWER, if the ratio is
    right.

    They show a difference, at ALPHA divided by `strictness`, or fit the interval into the
    threshold. The interval shrinks with the root of the number. The estimate ignores the error of
    the ratio itself.
    """
    error = effect.log_standard_error
    distance = abs(math.log(effect.ratio))
    candidates = []
    if distance > 0:
        strict = float(special.ndtri(1 - ALPHA / 2 / strictness))
        power = float(special.ndtri(POWER))
        candidates.append(effect.n * ((strict + power) * error / distance) ** 2)
    if distance < math.log1p(threshold):
        largest = _largest_error_for_same(distance, math.log1p(threshold))
        candidates.append(effect.n * (error / largest) ** 2)
    least = effect.n + 1
    if effect.best_p > 0:
        least = max(least, fewest_for_significance(strictness, effect.in_rounds))
    needed = min(candidates, default=math.inf)
    return None if needed > MOST_NEEDED else max(math.ceil(needed), least)


def _largest_error_for_same(distance: float, room: float) -> float:
    """Return the standard error with which the interval lies within `room` with a chance of POWER.

    Both of its ends must, so a distance of 0 needs a smaller error than one end would.
    """
    reach = float(special.ndtri((1 + LEVEL) / 2))

    def chance(error: float) -> float:
        ends = ((room + side * distance) / error - reach for side in (1, -1))
        return float(sum(special.ndtr(end) for end in ends)) - 1

    return float(
        optimize.brentq(lambda e: chance(e) - POWER, (room - distance) / 100, room)
    )


@functools.cache
def fewest_for_significance(strictness: float, in_rounds: bool = False) -> int:
    """Return the fewest repetitions of each row with which a rank test can be significant."""
    n = FEWEST_REPETITIONS
    while smallest_p(n, n, in_rounds) * strictness >= ALPHA:
        n += 1
    return n


def _compare(pairs: Sequence[tuple[Sample, Sample]]) -> list[Effect]:
    repeated = [i for i, pair in enumerate(pairs) if _are(Repetitions, pair)]
    repeated = [i for i in repeated if not _are(Launches, pairs[i])]
    by_repetitions = dict(
        zip(repeated, compare_repetitions([pairs[i] for i in repeated]))
    )
    return [
        by_repetitions[i]
        if i in by_repetitions
        else compare_launches(*pair)
        if _are(Launches, pair)
        else compare_summaries(*map(_summary, pair))
        for i, pair in enumerate(pairs)
    ]


def _are(kind: type, pair: tuple[Sample, Sample]) -> bool:
    return all(isinstance(sample, kind) for sample in pair)


def _summary(sample: Sample) -> Aggregates:
    return sample if isinstance(sample, Aggregates) else summary_of(sample.times_s)


def _strictness(correction: Correction, corrected: np.ndarray) -> float:
    """Return the correction's divisor of ALPHA for the pair that is decided next."""
    if correction is uncorrected:
        return 1.0
    if correction is not benjamini_hochberg:
        return corrected.size
    # Each significant pair makes the correction milder for the next.
    significant = int(np.count_nonzero(corrected < ALPHA))
    return max(1.0, corrected.size / (significant + 1))


def _decide(
    effect: Effect, p: float, best_p: float, threshold: float, strictness: float
) -> Verdict:
    outcome = Outcome.UNDECIDED
    # "same" would claim too much for an interval without width (too coarse a clock).
    enough = effect.n >= FEWEST_REPETITIONS and not effect.problem
    has_interval = enough and effect.high / effect.low > 1 + ROUNDING
    if (
        has_interval
        and 1 / (1 + threshold) <= effect.low
        and effect.high <= 1 + threshold
    ):
        outcome = Outcome.SAME
    elif enough and p < ALPHA and effect.high < 1:
        outcome = Outcome.FASTER
    elif enough and p < ALPHA and effect.low > 1:
        outcome = Outcome.SLOWER
    needed = None
    if outcome is Outcome.UNDECIDED and best_p >= ALPHA:
        needed = fewest_for_significance(strictness, effect.in_rounds)
    elif outcome is Outcome.UNDECIDED and has_interval and not effect.coarse_s:
        needed = repetitions_needed(effect, threshold, strictness)
    return Verdict(outcome, effect, p, best_p, needed)
