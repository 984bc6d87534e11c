"""A rank test for two rows of one run, and the interval of their ratio that inverts it.

Each repetition is compared with its neighbours in time, of all rows: how often did it take longer,
how often less? The weight of a comparison is one over the distance in the order of time: the nearer
two repetitions are, the less the machine has changed between them. The weighted sum is the
repetition's score. The statistic is the sum of the other row's scores: the test of F. Wilcoxon,
Mann and Whitney, in which neighbours count more.

For the comparison, other rows' times are divided by their own medians, and the two rows' times by
their common median. So no score depends on which of the two rows a repetition belongs to: if the
rows are equal, every permutation of the scores is equally likely. That holds for any noise (P. R.
Rosenbaum, Statistical Science 17, 2002, 286-327): drift, bursts and other guests are in the scores.
Randomness comes from the order alone, so the order must be random (gatherstats.stats.order). In a
run in rounds, scores are permuted within each round, otherwise among all repetitions. The null
distribution is exact up to EXACT_MAX_N repetitions of both rows; beyond, it is normal with the
permutation's mean and variance (J. Hajek, Z. Sidak, P. K. Sen, "Theory of Rank Tests", 2nd ed.,
1999).

The interval holds every ratio that the test does not reject when the other row is divided by it (D.
F. Bauer, Journal of the American Statistical Association 67, 1972, 687-690), by the normal
approximation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gatherstats.stats.medians import LEVEL
from gatherstats.stats.order import in_rounds
from gatherstats.stats.repetitions import Repetitions

REACH = 50
"""Neighbours on each side that a repetition is compared with. Farther ones would weigh less than
a fiftieth of the next one: a limit of time."""

EXACT_MAX_N = 40
"""Most repetitions of both rows with an exact null distribution: a limit of time."""

SCORE_STEPS = 10
"""Scores are rounded to tenths of a neighbour's weight: the exact distribution needs whole numbers."""

DOUBLINGS, BISECTIONS = 10, 9
"""Steps of the search for an interval's end: outwards, then by bisection to a five-hundredth of
the interval's width."""

BATCH_COMPARISONS = 4_000_000
"""Comparisons of one batch: a limit of memory."""

Pair = tuple[Repetitions, Repetitions]


@dataclass(frozen=True)
class RankTest:
    """One value a pair.

    low, high: the interval of other / base; NaN if the test can reject nothing.
    p: two-sided, the chance of such a difference between equal rows.
    """

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray


def rank_test(pairs: Sequence[Pair]) -> RankTest:
    """Compare (base, other) for each pair: of the same numbers of repetitions, all in rounds or none.

    Both rows of a pair must be of one run, with times above 0 and known moments.
    """
    size = sum(one.size for one in pairs[0])
    step = max(1, BATCH_COMPARISONS // (2 * REACH * size))
    parts = [_test(pairs[i : i + step]) for i in range(0, len(pairs), step)]
    return RankTest(*(np.concatenate(values) for values in zip(*parts)))


@functools.cache
def smallest_p(n_base: int, n_other: int, rounds: bool = False) -> float:
    """Return the smallest two-sided p of the test: one permutation among all, and its reverse."""
    if rounds:
        return math.ldexp(1, 1 - n_base)
    logarithms = (math.lgamma(n + 1) for n in (n_base + n_other, n_base, n_other))
    whole, base, other = logarithms
    return min(1.0, 2 * math.exp(base + other - whole))


def _test(pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = _Scores(pairs)
    n, rounds = pairs[0][0].size, in_rounds(*pairs[0])
    no_shift = np.zeros(len(pairs))
    if scores.size <= EXACT_MAX_N:
        count = _p_of_swaps if rounds else _p_of_permutations
        whole = np.rint(scores.at(no_shift) * SCORE_STEPS).astype(int)
        p = np.array([count(one, n) for one in whole])
    else:
        p = 2 * special.ndtr(-np.abs(_z(scores.at(no_shift), n, rounds)))
    if smallest_p(n, scores.size - n, rounds) >= 1 - LEVEL:
        nothing = np.full(len(pairs), np.nan)
        return nothing, nothing, p
    low = _end(scores, n, rounds, -1)
    return np.exp(low), np.exp(_end(scores, n, rounds, +1)), p


class _Scores:
    """The scores of pairs' repetitions, the base's first, as a function of the shift of the other row.

    In rounds both rows' repetitions are in the order of the rounds.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        n = pairs[0][0].size
        self.clean = np.log(
            np.stack([np.concatenate([o.times_s for o in pair]) for pair in pairs])
        )
        self.size = self.clean.shape[1]
        self.is_other = np.arange(self.size) >= n
        moments = [_in_order(pair) for pair in pairs]
        self.logs = np.stack([logs for logs, _ in moments])
        self.widest = np.ptp(self.logs, axis=1)
        positions = np.stack([places for _, places in moments])
        by_run: dict[int, list[int]] = {}
        for k, (base, _) in enumerate(pairs):
            by_run.setdefault(id(base.moments.timeline), []).append(k)
        own, others = [], []
        for members in by_run.values():
            timeline = pairs[members[0]][0].moments.timeline.deviations
            compared = self._compare(np.array(members), positions[members], timeline)
            own.append(compared[0])
            others.append(compared[1])
        self._keep_own(*(np.concatenate(parts) for parts in zip(*own)))
        self._keep_others(*(np.concatenate(parts) for parts in zip(*others)))

    def _compare(
        self, members: np.ndarray, positions: np.ndarray, timeline: np.ndarray
    ) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Find the neighbours of each repetition, for pairs of one run, and their weights.

        Returns, for neighbours in the two rows: the repetition that is scored, the neighbour, the
        weight. For neighbours in other rows: the repetition that is scored, the neighbour's
        deviation, the weight.
        """
        offsets = np.concatenate([np.arange(-REACH, 0), np.arange(1, REACH + 1)])
        around = positions[:, :, np.newaxis] + offsets
        pair, row, column = np.nonzero((around >= 0) & (around < timeline.size))
        place = around[pair, row, column]
        weight = 1 / np.abs(offsets[column])
        owner = members[pair] * self.size + row
        known = (
            np.arange(members.size)[:, np.newaxis] * timeline.size + positions
        ).ravel()
        in_order = np.argsort(known)
        wanted = pair * timeline.size + place
        found = np.searchsorted(known[in_order], wanted)
        partner = in_order[np.minimum(found, known.size - 1)]
        is_own = known[partner] == wanted
        partner = members[pair] * self.size + partner % self.size
        return (owner[is_own], partner[is_own], weight[is_own]), (
            owner[~is_own],
            timeline[place[~is_own]],
            weight[~is_own],
        )

    def _keep_own(
        self, owner: np.ndarray, partner: np.ndarray, weight: np.ndarray
    ) -> None:
        logs, other = self.logs.ravel(), np.tile(self.is_other, len(self.logs))
        difference = logs[owner] - logs[partner]
        shift = other[owner].astype(float) - other[partner]
        # A shift does not change the difference within a row.
        same = shift == 0
        signs = np.sign(difference[same]) * weight[same]
        # bincount of nothing returns integers.
        self.fixed = np.bincount(owner[same], signs, logs.size).astype(float)
        self.owner, self.difference, self.shift, self.weight = (
            part[~same] for part in (owner, difference, shift, weight)
        )

    def _keep_others(
        self, owner: np.ndarray, deviation: np.ndarray, weight: np.ndarray
    ) -> None:
        """Sort the neighbours of each repetition: a binary search gives the weight below it."""
        self.widest_deviation = float(np.max(np.abs(deviation), initial=0)) + 1
        self.keys = deviation + self._apart(owner)
        order = np.argsort(self.keys)
        self.keys = self.keys[order]
        self.summed = np.concatenate([[0.0], np.cumsum(weight[order])])
        bounds = self._apart(np.arange(self.fixed.size)) - self.widest_deviation
        self.begins = np.searchsorted(self.keys, bounds)

    def _apart(self, owner: np.ndarray) -> np.ndarray:
        return 3.0 * self.widest_deviation * owner

    def at(self, shifts: np.ndarray) -> np.ndarray:
        """Return the scores (a matrix) after `shifts`, one a pair, are subtracted from the other row."""
        left = self.difference - self.shift * shifts[self.owner // self.size]
        scores = self.fixed + np.bincount(
            self.owner, np.sign(left) * self.weight, self.fixed.size
        )
        if self.keys.size:
            scores += self._against_others(shifts)
        return scores.reshape(self.logs.shape)

    def _against_others(self, shifts: np.ndarray) -> np.ndarray:
        taken_off = np.outer(shifts, self.is_other)
        common = np.median(self.clean - taken_off, axis=1, keepdims=True)
        deviations = np.clip(
            (self.logs - taken_off - common).ravel(),
            -self.widest_deviation,
            self.widest_deviation,
        )
        keys = deviations + self._apart(np.arange(deviations.size))
        below, up_to = (
            self.summed[np.searchsorted(self.keys, keys, side)]
            for side in ("left", "right")
        )
        ends = np.append(self.begins[1:], self.keys.size)
        return below + up_to - self.summed[self.begins] - self.summed[ends]


def _in_order(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return a pair's logarithms and positions; in rounds, both sorted by round."""
    moments = [one.moments for one in pair]
    if not in_rounds(*pair):
        orders = [slice(None), slice(None)]
    else:
        orders = [np.argsort(one.rounds) for one in moments]
    return (
        np.concatenate([m.logs[order] for m, order in zip(moments, orders)]),
        np.concatenate([m.positions[order] for m, order in zip(moments, orders)]),
    )


def _z(scores: np.ndarray, n: int, rounds: bool) -> np.ndarray:
    """Return the sum of the other row's scores, in standard deviations of its null distribution."""
    if rounds:
        differences = scores[:, n:] - scores[:, :n]
        total, variance = differences.sum(axis=1), (differences**2).sum(axis=1)
    else:
        size = scores.shape[1]
        centred = scores - scores.mean(axis=1, keepdims=True)
        variance = (centred**2).sum(axis=1) * n * (size - n) / (size * (size - 1))
        total = centred[:, n:].sum(axis=1)
    # Without variance all scores are equal.
    return np.divide(
        total, np.sqrt(variance), out=np.zeros_like(total), where=variance > 0
    )


def _end(scores: _Scores, n: int, rounds: bool, side: int) -> np.ndarray:
    """Return the logarithm of the interval's end on this side of the medians' ratio; NaN for none."""
    limit = float(special.ndtri((1 + LEVEL) / 2))

    def is_rejected(shifts: np.ndarray) -> np.ndarray:
        return -side * _z(scores.at(shifts), n, rounds) > limit

    clean = scores.clean
    start = np.median(clean[:, n:], axis=1) - np.median(clean[:, :n], axis=1)
    spread = np.ptp(
        np.quantile(clean - np.outer(start, scores.is_other), [0.25, 0.75], axis=1),
        axis=0,
    )
    # Farther shifts change no comparison.
    farthest = 2 * scores.widest + 1e-9
    start_reach = 2 * spread / math.sqrt(scores.size)
    reach = np.clip(start_reach, farthest / 4**DOUBLINGS, farthest)
    inside, outside = start, start + side * reach
    rejected = is_rejected(outside)
    for _ in range(DOUBLINGS):
        if rejected.all():
            break
        inside = np.where(rejected, inside, outside)
        reach = np.where(rejected, reach, np.minimum(4 * reach, farthest))
        outside = np.where(rejected, outside, start + side * reach)
        rejected = is_rejected(outside)
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        beyond = is_rejected(middle)
        outside = np.where(beyond, middle, outside)
        inside = np.where(beyond, inside, middle)
    return np.where(rejected, outside, np.nan)


def _p_of_permutations(scores: np.ndarray, n: int) -> float:
    """Return the share of all permutations of whole scores with at least this difference."""
    m = scores.size - n
    lowest = scores - scores.min()
    ways = np.zeros((m + 1, int(np.sort(lowest)[n:].sum()) + 1))
    ways[0, 0] = 1
    for score in lowest:
        ways[1:, score:] += ways[:-1, : ways.shape[1] - score].copy()
    distance = np.abs(np.arange(ways.shape[1]) - lowest.mean() * m)
    seen = abs(lowest[n:].sum() - lowest.mean() * m)
    return float(ways[m, distance >= seen - 1e-9].sum() / special.binom(n + m, m))


def _p_of_swaps(scores: np.ndarray, n: int) -> float:
    """Return the share of all swaps within rounds with at least this difference."""
    differences = scores[n:] - scores[:n]
    sizes = np.abs(differences)
    ways = np.zeros(2 * sizes.sum() + 1)
    ways[0] = 1
    for size in sizes:
        moved = ways.copy()
        moved[2 * size :] += ways[: ways.size - 2 * size]
        ways = moved
    distance = np.abs(np.arange(ways.size) - sizes.sum())
    return float(ways[distance >= abs(differences.sum())].sum() / 2.0**n)
