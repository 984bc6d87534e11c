"""Compares two rows: the ratio of their times, its interval, and a test.

From repetitions of one run: the ratio of medians without drift, a rank test and its interval
(gatherstats.stats.rank_test). That interval assumes one factor between all times of the two rows.
If a row has several modes around its median, the medians are less certain than it says. Then the
MOVER rule combines the two medians' own intervals, on the logarithms of the times (G. Y. Zou, A.
Donner, Statistics in Medicine 27, 2008, 1693-1702). The same rule serves where there is no test,
because the order of the repetitions was not random.

From launches: the mean of the logarithms of ratios of paired launches, and Student's t.

From published summaries: the ratio of means and Welch's test, by scipy; the interval is Welch's on
the logarithm of the ratio, with each mean's standard error divided by the mean (delta method).

Every ratio is other / base: below 1, the other row takes less time.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from gatherstats.data.rows import Aggregates
from gatherstats.stats.launches import Launches, pairs_of
from gatherstats.stats.medians import LEVEL, median_interval
from gatherstats.stats.order import in_rounds, order_problem
from gatherstats.stats.rank_test import rank_test, smallest_p
from gatherstats.stats.repetitions import Repetitions

WIDEST_MARGIN = 500.0
"""Widest interval of the logarithm of a ratio of means: exp() of a wider one would overflow."""

UNIMODALITY_LEVEL = 0.5
"""The level of the medians' intervals that detect several modes. They end at values next to the median, which
a few disturbed repetitions do not reach, even of ten."""

UNIMODALITY_RATIO = 3.0
"""The medians' own interval is used if the inner one, scaled, exceeds the rank test's by this factor; for
rows with one mode it is 0.5 to 1.6 times as wide."""

ROUNDING = 1e-8
"""The largest difference between two logarithms of the same number."""

FEWEST_REPETITIONS = 4
"""Fewer repetitions give a median without a useful interval, and no rank test below p = 0.05."""


_NO_SPREAD = "no spread at all, so nothing can be tested"
_TOO_MUCH = "it scatters too much for an interval"


@dataclass(frozen=True)
class Effect:
    """One comparison. `problem` tells why there is no test; then p is NaN, and the rest may be.

    statistic: "medians" or "means", the terms of the ratio.
    ratio, low, high: other / base and its 95 % interval.
    p: of the test that there is no difference, two-sided, uncorrected.
    best_p: the smallest p that so many repetitions can give at all (0 for tests by Student's t).
    n: repetitions of the row that has fewer, or pairs of launches.
    coarse_s: the step in which times were stored, which bounds the interval; 0 where it does not.
    in_rounds: whether the test was of a run in rounds.
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
    in_rounds: bool = False

    @property
    def log_standard_error(self) -> float:
        """The standard error of the logarithm of the ratio, derived from the interval."""
        return (
            math.log(self.high / self.low) / 2 / float(special.ndtri((1 + LEVEL) / 2))
        )


def compare_repetitions(
    pairs: Sequence[tuple[Repetitions, Repetitions]],
) -> list[Effect]:
    """Compare (base, other) for each pair.

    Without a random order of their repetitions there is no test: the ratio and the interval
    describe these repetitions alone. Pairs with the same numbers of repetitions are computed in one
    batch: many thousands of pairs take about as long as a few.
    """
    effects: list[Effect | None] = [None] * len(pairs)
    batches: dict[Hashable, list[int]] = {}
    why_not: dict[int, str] = {}
    for i, (base, other) in enumerate(pairs):
        problem = _problem(base.measured_s, other.measured_s)
        if problem:
            effects[i] = _without_test(base, other, problem)
            continue
        why_not[i] = order_problem(base, other)
        rounds = not why_not[i] and in_rounds(base, other)
        batch = base.size, other.size, rounds, not why_not[i]
        batches.setdefault(batch, []).append(i)
    for (_, _, _, is_tested), indices in batches.items():
        compared = _compare_batch([pairs[i] for i in indices], is_tested)
        for i, effect in zip(indices, compared):
            effects[i] = _widened(replace(effect, problem=why_not[i]), *pairs[i])
    return [effect for effect in effects if effect is not None]


def compare_launches(base: Launches, other: Launches) -> Effect:
    """Compare two rows by Student's t of the logarithms of ratios of paired launches.

    Without pairs there is no test, and the interval is Welch's on the logarithms of these launches.
    """
    problem = _problem(base.times_s, other.times_s)
    if problem:
        return _without_test(base, other, problem)
    left, right, why_not = pairs_of(base, other)
    logs = np.log(base.times_s), np.log(other.times_s)
    if left.size < 2:
        # Too few pairs for an interval: use the two sides'.
        margin = _welch_margin([(float(np.var(o, ddof=1)), o.size) for o in logs])
        middle, p = float(np.mean(logs[1]) - np.mean(logs[0])), math.nan
    else:
        ratios = logs[1][right] - logs[0][left]
        middle, error = float(np.mean(ratios)), float(stats.sem(ratios))
        if error <= ROUNDING:
            return Effect("medians", math.exp(middle), n=left.size, problem=_NO_SPREAD)
        margin = error * float(stats.t.ppf((1 + LEVEL) / 2, left.size - 1))
        p = 2 * float(stats.t.sf(abs(middle) / error, left.size - 1))
    if margin > WIDEST_MARGIN:
        return Effect("medians", math.exp(middle), n=left.size, problem=_TOO_MUCH)
    if not why_not and left.size < FEWEST_REPETITIONS:
        why_not = f"it takes {FEWEST_REPETITIONS} launches of each, in turn"
    low, high = math.exp(middle - margin), math.exp(middle + margin)
    n = left.size or min(base.size, other.size)
    p = math.nan if why_not else p
    effect = Effect("medians", math.exp(middle), low, high, p, n=n, problem=why_not)
    return _widened(effect, base, other)


def compare_summaries(base: Aggregates, other: Aggregates) -> Effect:
    """Compare two rows by their means, standard deviations and numbers alone."""
    if not base.can_be_tested or not other.can_be_tested:
        return _compare_medians_only(base, other)
    if base.mean_s <= 0 or other.mean_s <= 0:
        return Effect("means", problem="a mean of zero gives no ratio")
    ratio = other.mean_s / base.mean_s
    if base.stddev_s == 0 and other.stddev_s == 0:
        return Effect("means", ratio, problem=_NO_SPREAD)
    p = stats.ttest_ind_from_stats(
        *(other.mean_s, other.stddev_s, other.n),
        *(base.mean_s, base.stddev_s, base.n),
        equal_var=False,
    ).pvalue
    margin = _log_margin_of_means(base, other)
    if margin > WIDEST_MARGIN:
        return Effect("means", ratio, problem=_TOO_MUCH)
    n = min(base.n, other.n)
    low, high = ratio * math.exp(-margin), ratio * math.exp(margin)
    return Effect("means", ratio, low, high, float(p), n=n)


def summary_of(times_s: np.ndarray) -> Aggregates:
    """Summarise repetitions by mean, standard deviation and number, to compare them with a summary."""
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
        return _NO_SPREAD
    return ""


def _without_test(base: Repetitions, other: Repetitions, problem: str) -> Effect:
    n = min(base.size, other.size)
    if n == 0 or base.median_s <= 0:
        return Effect("medians", n=n, problem=problem)
    ratio = other.median_s / base.median_s
    return Effect("medians", ratio, n=n, problem=problem)


def _compare_batch(
    pairs: Sequence[tuple[Repetitions, Repetitions]], is_tested: bool
) -> list[Effect]:
    """Compare pairs with the same numbers of repetitions, all in rounds or none."""
    base, other = (
        np.sort(np.stack([pair[side].times_s for pair in pairs]), axis=1)
        for side in (0, 1)
    )
    n, m = base.shape[1], other.shape[1]
    rounds = is_tested and in_rounds(*pairs[0])
    log_ratio = np.log(np.median(other, axis=1)) - np.log(np.median(base, axis=1))
    down, up = _reach_of_medians(base, other, LEVEL)
    lows, highs, p = log_ratio - down, log_ratio + up, np.full(len(pairs), math.nan)
    best_p = 0.0
    if is_tested:
        tested = rank_test(pairs)
        p, best_p = tested.p, smallest_p(n, m, rounds)
        low = np.minimum(np.log(tested.low), log_ratio)
        high = np.maximum(np.log(tested.high), log_ratio)
        inner = np.sum(_reach_of_medians(base, other, UNIMODALITY_LEVEL), axis=0)
        unimodal = inner <= UNIMODALITY_RATIO * (high - low)
        lows, highs = np.where(unimodal, low, lows), np.where(unimodal, high, highs)
    template = Effect("medians", best_p=best_p, n=min(n, m), in_rounds=rounds)
    return [
        replace(
            template,
            ratio=math.exp(r),
            low=math.exp(lo),
            high=math.exp(hi),
            p=float(one_p),
        )
        for r, lo, hi, one_p in zip(log_ratio, lows, highs, p)
    ]


def _widened(effect: Effect, base: Repetitions, other: Repetitions) -> Effect:
    """Widen the interval by the error of times that were stored in steps: half a step of each
    median.
    """
    off = [one.step_s / 2 / one.median_s for one in (base, other)]
    if not any(off):
        return effect
    if off[0] >= 1:
        return replace(effect, p=math.nan, problem="the times are stored too coarsely")
    return replace(
        effect,
        low=effect.low * max(1 - off[1], 0) / (1 + off[0]) * (1 - ROUNDING),
        high=effect.high * (1 + off[1]) / (1 - off[0]) * (1 + ROUNDING),
        coarse_s=max(base.step_s, other.step_s),
    )


def _reach_of_medians(
    base: np.ndarray, other: np.ndarray, taken_at: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances from the ratio of sorted rows' medians down and up to its interval's ends, as
    logarithms."""
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
    """Return half of the interval of log(other mean / base mean), with Welch's degrees of freedom."""
    return _welch_margin([((a.stddev_s / a.mean_s) ** 2, a.n) for a in (base, other)])


def _welch_margin(sides: Sequence[tuple[float, int]]) -> float:
    """Return half of Welch's interval of the difference of means, for samples of these variances and sizes."""
    parts = [(variance / n, n) for variance, n in sides]
    whole = sum(part for part, _ in parts)
    freedom = whole**2 / sum(part**2 / (n - 1) for part, n in parts)
    return float(stats.t.ppf((1 + LEVEL) / 2, freedom) * math.sqrt(whole))
