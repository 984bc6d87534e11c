"""How much slower or faster one row is than another: a ratio, its interval, and a test.

From repetitions: the ratio of medians, a rank test and the interval that belongs to it
(gatherstats.stats.rank_test). The medians are weighted as the repetitions are. That interval is of a factor
by which all of a row's times differ. Where one row scatters far more than the other, or has several
humps around its median, the medians know less than it says. Then the interval is put together from
the two medians' own by the MOVER rule, on the logarithms of the times (G. Y. Zou, A. Donner,
Statistics in Medicine 27, 2008, 1693-1702).

From published summaries: the ratio of means and Welch's test, by scipy; the interval is Welch's on
the logarithm of the ratio, with each mean's standard error divided by the mean (delta method).

Every ratio is other / base: below 1, the other row takes less time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from gatherstats.data.rows import Aggregates
from gatherstats.stats.medians import LEVEL, median_interval, weighted_medians
from gatherstats.stats.rank_test import EXACT_MAX_N, rank_test, smallest_p
from gatherstats.stats.repetitions import Repetitions

WIDEST_MARGIN = 500.0
"""Of the logarithm of a ratio of means: wider ones no number can hold, and tell nothing."""

UNIMODALITY_LEVEL = 0.5
"""The level of the medians' intervals that tell whether there are several humps. They end at values
next to the median, which a few disturbed repetitions do not reach, even of ten."""

ROUNDING = 1e-8
"""What two logarithms may differ by, and still be the same."""

MAX_IQR_LOG_RATIO = (0.2, 2.5)
"""The medians' own interval is taken where the quartiles of one row are so much farther apart than
those of the other that the logarithm of the ratio is above the first, plus the second divided by the
root of the number of repetitions, which is what chance does. Rows of normal noise, one of which
scattered 1.3 to 3 times as much as the other, then had at most 4 false alarms in 100."""

UNIMODALITY_RATIO = 3.0
"""The medians' own interval is taken where the inner one, scaled, is so much wider than the rank
test's; for rows with one hump it is 0.5 to 1.6 times as wide."""

FEWEST_REPETITIONS = 4
"""Below this the interval of a median is only a guess, and no rank test reaches p < 0.05."""


@dataclass(frozen=True)
class Effect:
    """One comparison. `problem` says why there is no test; then p is NaN and so may the rest be.

    statistic: "medians" or "means", what the ratio is made of.
    ratio, low, high: other / base and its 95 % interval.
    p: of the test that there is no difference, two-sided, uncorrected.
    best_p: the smallest p that so many repetitions can give at all (0 for Welch's test).
    n: repetitions of the row that has fewer.
    coarse_s: the step in which times were stored, which bounds the interval; 0 where it does not.
    """

    statistic: str
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    best_p: float = 0.0
    n: int = 0
    problem: str = ""
    coarse_s: float = 0.0

    @property
    def log_standard_error(self) -> float:
        """The standard error of the logarithm of the ratio, as the interval implies it."""
        return (
            math.log(self.high / self.low) / 2 / float(special.ndtri((1 + LEVEL) / 2))
        )


def compare_repetitions(
    pairs: Sequence[tuple[Repetitions, Repetitions]],
) -> list[Effect]:
    """Compare (base, other) for each pair.

    Pairs with the same numbers of repetitions are computed together, so that many thousands of
    pairs take about as long as a few.
    """
    effects: list[Effect | None] = [None] * len(pairs)
    batches: dict[tuple[int, int], list[int]] = {}
    for i, (base, other) in enumerate(pairs):
        problem = _problem(base.times_s, other.times_s)
        if problem:
            effects[i] = _without_test(base, other, problem)
        else:
            batches.setdefault((base.size, other.size), []).append(i)
    for indices in batches.values():
        for i, effect in zip(indices, _compare_batch([pairs[i] for i in indices])):
            effects[i] = _widened(effect, *pairs[i])
    return [effect for effect in effects if effect is not None]


def compare_summaries(base: Aggregates, other: Aggregates) -> Effect:
    """Compare two rows of which only mean, standard deviation and number are known."""
    if not base.can_be_tested or not other.can_be_tested:
        return _compare_medians_only(base, other)
    if base.mean_s <= 0 or other.mean_s <= 0:
        return Effect("means", problem="a mean of zero gives no ratio")
    ratio = other.mean_s / base.mean_s
    if base.stddev_s == 0 and other.stddev_s == 0:
        return Effect(
            "means", ratio, problem="no spread at all, so nothing can be tested"
        )
    p = stats.ttest_ind_from_stats(
        *(other.mean_s, other.stddev_s, other.n),
        *(base.mean_s, base.stddev_s, base.n),
        equal_var=False,
    ).pvalue
    margin = _log_margin_of_means(base, other)
    if margin > WIDEST_MARGIN:
        return Effect("means", ratio, problem="it scatters too much for an interval")
    n = min(base.n, other.n)
    low, high = ratio * math.exp(-margin), ratio * math.exp(margin)
    return Effect("means", ratio, low, high, float(p), n=n)


def summary_of(times_s: np.ndarray) -> Aggregates:
    """Mean, standard deviation and number of all repetitions, to compare them with a summary."""
    stddev_s = float(np.std(times_s, ddof=1)) if times_s.size >= 2 else None
    return Aggregates(int(times_s.size), float(np.mean(times_s)), stddev_s)


def _problem(base: np.ndarray, other: np.ndarray) -> str:
    fewest = min(base.size, other.size)
    if fewest == 0:
        return "there is no repetition"
    if base.min() <= 0 or other.min() <= 0:
        return "a time of zero gives no ratio"
    if fewest == 1:
        return "a single value shows no spread, so nothing can be tested"
    if np.ptp(base) == 0 and np.ptp(other) == 0:
        return "no spread at all, so nothing can be tested"
    return ""


def _without_test(base: Repetitions, other: Repetitions, problem: str) -> Effect:
    n = min(base.size, other.size)
    if n == 0 or base.median_s <= 0:
        return Effect("medians", n=n, problem=problem)
    ratio = other.median_s / base.median_s
    return Effect("medians", ratio, n=n, problem=problem)


def _compare_batch(pairs: Sequence[tuple[Repetitions, Repetitions]]) -> list[Effect]:
    """Compare pairs with the same numbers of repetitions."""
    times = [np.stack([pair[side].times_s for pair in pairs]) for side in (0, 1)]
    weights = _weights(pairs)
    if weights:
        centres = [np.log(weighted_medians(*side)) for side in zip(times, weights)]
    else:
        centres = [np.log(np.median(one, axis=1)) for one in times]
    tested = rank_test(*times, *weights)
    log_ratio = centres[1] - centres[0]
    rank_low, rank_high = np.log(tested.low), np.log(tested.high)
    in_order = [np.sort(one, axis=1) for one in times]
    down, up = _reach_of_medians(*in_order, LEVEL)
    one_factor = (rank_low - ROUNDING <= log_ratio) & (
        log_ratio <= rank_high + ROUNDING
    )
    one_factor &= _is_alike(*in_order, rank_high - rank_low)
    lows = np.where(one_factor, np.minimum(rank_low, log_ratio), log_ratio - down)
    highs = np.where(one_factor, np.maximum(rank_high, log_ratio), log_ratio + up)
    best_p = smallest_p(times[0].shape[1], times[1].shape[1])
    template = Effect("medians", best_p=best_p, n=min(one.shape[1] for one in times))
    return [
        replace(template, ratio=float(r), low=float(lo), high=float(hi), p=float(p))
        for r, lo, hi, p in zip(
            np.exp(log_ratio), np.exp(lows), np.exp(highs), tested.p
        )
    ]


def _widened(effect: Effect, base: Repetitions, other: Repetitions) -> Effect:
    """The effect with the interval that the true times allow, where they were stored in steps.

    Each median may be off by half a step.
    """
    off = [one.step_s / 2 / one.median_s for one in (base, other)]
    if not any(off):
        return effect
    if off[0] >= 1:
        return replace(effect, p=math.nan, problem="the times are stored too coarsely")
    return replace(
        effect,
        low=effect.low * max(1 - off[1], 0) / (1 + off[0]),
        high=effect.high * (1 + off[1]) / (1 - off[0]),
        coarse_s=max(base.step_s, other.step_s),
    )


def _weights(pairs: Sequence[tuple[Repetitions, Repetitions]]) -> list[np.ndarray]:
    """What the repetitions of both sides count; empty where they count the same.

    That is so for all pairs if one row of one has no weights: a weight must not depend on the row.
    """
    rows = [one for pair in pairs for one in pair]
    if sum(one.size for one in pairs[0]) <= EXACT_MAX_N:
        return []
    if any(one.weights is None for one in rows):
        return []
    return [np.stack([pair[side].weights for pair in pairs]) for side in (0, 1)]


def _is_alike(
    base: np.ndarray, other: np.ndarray, rank_width: np.ndarray
) -> np.ndarray:
    """Whether a factor may be all that sorted rows differ in: their medians lie in one hump, and
    neither row scatters far more than the other."""
    inner = np.sum(_reach_of_medians(base, other, UNIMODALITY_LEVEL), axis=0)
    spreads = [np.log(_between_quartiles(rows)) for rows in (base, other)]
    always, by_chance = MAX_IQR_LOG_RATIO
    allowed = always + by_chance / math.sqrt(min(base.shape[1], other.shape[1]))
    alike = np.abs(spreads[1] - spreads[0]) <= allowed
    return alike & (inner <= UNIMODALITY_RATIO * rank_width)


def _between_quartiles(in_order: np.ndarray) -> np.ndarray:
    """The distance of the quartiles of sorted rows, as a logarithm of their ratio."""
    n = in_order.shape[1]
    logs = np.log(in_order)
    return np.maximum(logs[:, n - 1 - n // 4] - logs[:, n // 4], ROUNDING)


def _reach_of_medians(
    base: np.ndarray, other: np.ndarray, taken_at: float
) -> tuple[np.ndarray, np.ndarray]:
    """How far the interval of the ratio of sorted rows' medians reaches down and up, as logarithms."""
    _, base_down, base_up = median_interval(base, taken_at)
    _, down, up = median_interval(other, taken_at)
    return np.hypot(down, base_up), np.hypot(up, base_down)


def _compare_medians_only(base: Aggregates, other: Aggregates) -> Effect:
    problem = "without a spread and an n nothing can be tested"
    if base.median_s and other.median_s is not None:
        return Effect("medians", other.median_s / base.median_s, problem=problem)
    if base.mean_s and other.mean_s is not None:
        return Effect("means", other.mean_s / base.mean_s, problem=problem)
    return Effect("medians", problem=problem)


def _log_margin_of_means(base: Aggregates, other: Aggregates) -> float:
    """Half of the interval of log(other mean / base mean), with Welch's degrees of freedom."""
    parts = [(a.stddev_s / a.mean_s) ** 2 / a.n for a in (base, other)]
    variance = sum(parts)
    freedom = variance**2 / sum(
        part**2 / (a.n - 1) for part, a in zip(parts, (base, other))
    )
    return float(stats.t.ppf((1 + LEVEL) / 2, freedom) * math.sqrt(variance))
