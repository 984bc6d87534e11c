"""Checks whether the repetitions of two rows ran in random order.

A permutation test assumes that the moments of two rows could be exchanged. If one row ended before
the other began, any change in between looks like a difference of the rows; if they ran strictly in
turn, so does anything that recurs in that rhythm.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special, stats

from gatherstats.stats.repetitions import Repetitions

UNKNOWN = "the file does not say in which order the repetitions ran"
NOT_RANDOM = "the order of the repetitions was not left to chance"
OTHER_RUN = "the repetitions are of different runs"
ORDER_PROBLEMS = (UNKNOWN, NOT_RANDOM, OTHER_RUN)
"""Reasons against a test of two rows whose repetitions are known."""

ORDER_ADVICE = (
    "A verdict needs rows whose repetitions ran in random order, with start times, as gatherbench runs"
    " them."
)

ORDER_LEVEL = 0.001
"""The level of the runs test: one random order in a thousand is rejected."""


def order_problem(base: Repetitions, other: Repetitions) -> str:
    """Tell why the order of these repetitions allows no test, "" if it is random."""
    if base.moments is None or other.moments is None:
        return UNKNOWN
    if base.moments.timeline is not other.moments.timeline:
        return OTHER_RUN
    positions = np.concatenate([base.moments.positions, other.moments.positions])
    is_other = (np.arange(positions.size) >= base.size)[np.argsort(positions)]
    if in_rounds(base, other):
        return "" if _rounds_may_be_random(base, other) else NOT_RANDOM
    runs = 1 + int(np.count_nonzero(np.diff(is_other)))
    return NOT_RANDOM if not runs_may_be_random(runs, base.size, other.size) else ""


def in_rounds(base: Repetitions, other: Repetitions) -> bool:
    """Whether both rows ran once in each of the same rounds."""
    rounds = [one.moments and one.moments.rounds for one in (base, other)]
    if any(one is None for one in rounds):
        return False
    first, second = (np.sort(one) for one in rounds)
    distinct = bool(np.all(np.diff(first) > 0))
    return distinct and np.array_equal(first, second)


@functools.cache
def runs_may_be_random(runs: int, n: int, m: int) -> bool:
    """Whether a random order of n and m things may have this number of runs (of neighbours of one
    kind).

    The test of A. Wald and J. Wolfowitz, Annals of Mathematical Statistics 11, 1940, 147-162,
    two-sided. The fewest possible runs, and the most, always count as not random, even where so few
    things have no p below ORDER_LEVEL. Fewer than four of a kind may have any order: no test
    decides anything then.
    """
    if min(n, m) < 4:
        return True
    if runs <= 2 or runs == 2 * min(n, m) + (n != m):
        return False
    mean, deviation = _runs_in_random_order(n, m)
    return bool(2 * special.ndtr(-(abs(runs - mean) - 0.5) / deviation) >= ORDER_LEVEL)


def takes_turns(runs: int, n: int, m: int) -> bool:
    """Whether n and m things have enough runs; the same test, one-sided, at 5 %."""
    if min(n, m) == 0:
        return False
    mean, deviation = _runs_in_random_order(n, m)
    return bool(special.ndtr((runs - mean + 0.5) / deviation) >= 0.05)


def _runs_in_random_order(n: int, m: int) -> tuple[float, float]:
    """Return the mean of the number of runs in a random order, and its standard deviation."""
    mean = 1 + 2 * n * m / (n + m)
    return mean, math.sqrt(max((mean - 1) * (mean - 2) / (n + m - 1), 1e-9))


def _rounds_may_be_random(base: Repetitions, other: Repetitions) -> bool:
    """Whether the order within the rounds may be random."""
    first, second = (
        one.moments.positions[np.argsort(one.moments.rounds)] for one in (base, other)
    )
    ahead = int(np.count_nonzero(first < second))
    if ahead in (0, first.size):
        return False
    return bool(stats.binomtest(ahead, first.size).pvalue >= ORDER_LEVEL)
