"""How much slower or faster one row is than another: a ratio, its interval, and a test.

From repetitions: the ratio of medians and a rank test. The interval of the ratio is made from the
two medians' own intervals, which are pairs of order statistics and hold for any distribution, also
one with two humps (H. A. David, H. N. Nagaraja, "Order Statistics", 3rd ed., section 7.1). They are
put together on the logarithms of the times by the MOVER rule (G. Y. Zou, A. Donner, Statistics in
Medicine 27, 2008, 1693-1702). The test is the Mann-Whitney U test, by scipy.

From published summaries: the ratio of means and Welch's test, by scipy; the interval is Welch's on
the logarithm of the ratio, with each mean's standard error divided by the mean (delta method).

Every ratio is other / base: below 1, the other row takes less time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from gatherstats.rows import Aggregates

LEVEL = 0.95
"""The level of every interval of a ratio."""

EXACT_UP_TO = 25
"""Repetitions of a row up to which the rank test is exact: scipy's exact test takes 16 s for 100
against 100, and there its normal approximation is right to the third digit."""

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
    """

    statistic: str
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    best_p: float = 0.0
    n: int = 0
    problem: str = ""

    @property
    def log_standard_error(self) -> float:
        """The standard error of the logarithm of the ratio, as the interval implies it."""
        return (
            math.log(self.high / self.low) / 2 / float(special.ndtri((1 + LEVEL) / 2))
        )


def compare_repetitions(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[Effect]:
    """Compare (base, other) for each pair of arrays of times, in seconds.

    Pairs with the same numbers of repetitions are computed together, so that many thousands of
    pairs take about as long as a few.
    """
    effects: list[Effect | None] = [None] * len(pairs)
    batches: dict[tuple[int, int], list[int]] = {}
    for i, (base, other) in enumerate(pairs):
        problem = _problem(base, other)
        if problem:
            effects[i] = _without_test(base, other, problem)
        else:
            batches.setdefault((base.size, other.size), []).append(i)
    for indices in batches.values():
        base = np.stack([pairs[i][0] for i in indices])
        other = np.stack([pairs[i][1] for i in indices])
        for i, effect in zip(indices, _compare_batch(base, other)):
            effects[i] = effect
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
    n = min(base.n, other.n)
    low, high = ratio * math.exp(-margin), ratio * math.exp(margin)
    return Effect("means", ratio, low, high, float(p), n=n)


def summary_of(times_s: np.ndarray) -> Aggregates:
    """Mean, standard deviation and number of all repetitions, to compare them with a summary."""
    stddev_s = float(np.std(times_s, ddof=1)) if times_s.size >= 2 else None
    return Aggregates(int(times_s.size), float(np.mean(times_s)), stddev_s)


@functools.cache
def smallest_p(n_base: int, n_other: int) -> float:
    """The smallest two-sided p that a rank test can give: all of one row below all of the other."""
    return float(min(1.0, 2 / special.binom(n_base + n_other, n_base)))


def median_interval(
    sorted_times: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The medians of sorted rows of positive times, and how far their intervals reach down and up.

    All as logarithms. The k-th value from each end is taken, with the largest k whose interval
    covers the median at LEVEL or more (or the two extremes, where even they cover it less). The
    distances are then scaled from the exact level of that pair to LEVEL, as for a normal law.
    """
    n = sorted_times.shape[-1]
    tail = (1 - LEVEL) / 2
    k = max(1, int(stats.binom.ppf(tail, n, 0.5)))
    missed = float(stats.binom.cdf(k - 1, n, 0.5))
    scale = float(special.ndtri(tail) / special.ndtri(missed))
    logs = np.log(sorted_times)
    middle = np.log(np.median(sorted_times, axis=-1))
    return (
        middle,
        (middle - logs[..., k - 1]) * scale,
        (logs[..., n - k] - middle) * scale,
    )


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


def _without_test(base: np.ndarray, other: np.ndarray, problem: str) -> Effect:
    n = min(base.size, other.size)
    if n == 0 or np.median(base) <= 0:
        return Effect("medians", n=n, problem=problem)
    ratio = float(np.median(other) / np.median(base))
    return Effect("medians", ratio, n=n, problem=problem)


def _compare_batch(base: np.ndarray, other: np.ndarray) -> list[Effect]:
    """Compare the rows of two matrices, one pair a row, one repetition a column."""
    base, other = np.sort(base, axis=1), np.sort(other, axis=1)
    n_base, n_other = base.shape[1], other.shape[1]
    base_middle, base_down, base_up = median_interval(base)
    middle, down, up = median_interval(other)
    log_ratio = middle - base_middle
    ratios = np.exp(log_ratio)
    lows = np.exp(log_ratio - np.hypot(down, base_up))
    highs = np.exp(log_ratio + np.hypot(up, base_down))
    ps = _rank_test(base, other)
    template = Effect(
        "medians", best_p=smallest_p(n_base, n_other), n=min(n_base, n_other)
    )
    return [
        replace(template, ratio=float(r), low=float(lo), high=float(hi), p=float(p))
        for r, lo, hi, p in zip(ratios, lows, highs, ps)
    ]


def _rank_test(base: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two-sided p of the Mann-Whitney U test for each row; exact for few repetitions without ties."""
    both = np.sort(np.concatenate([base, other], axis=1), axis=1)
    tied = np.any(both[:, 1:] == both[:, :-1], axis=1)
    small = max(base.shape[1], other.shape[1]) <= EXACT_UP_TO
    ps = np.ones(len(base))
    for chosen, method in (
        (~tied & small, "exact"),
        (tied | (not small), "asymptotic"),
    ):
        if np.any(chosen):
            result = stats.mannwhitneyu(
                base[chosen], other[chosen], axis=1, method=method
            )
            ps[chosen] = np.clip(result.pvalue, 0.0, 1.0)
    return ps


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
