"""Whether chance decided in which order the repetitions of two rows ran.

A permutation test asks what would have come out if chance had dealt the moments out to the two rows
otherwise. If one row was over before the other began, whatever changed in between looks like a
difference between them; if they ran strictly in turn, so does whatever comes back in that rhythm.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special, stats

from gatherstats.stats.repetitions import Repetitions

UNKNOWN = "the file does not say in which order the repetitions ran"
NOT_BY_CHANCE = "the order of the repetitions was not left to chance"
OTHER_RUN = "the repetitions are of different runs"
ORDER_PROBLEMS = (UNKNOWN, NOT_BY_CHANCE, OTHER_RUN)
"""Why there is no test of two rows, though their repetitions are there."""

TO_KNOW_THE_ORDER = (
    "A verdict needs rows whose repetitions ran in random order, with start times, as gatherbench runs"
    " them."
)

CERTAIN = 0.001
"""The p of the runs test below which an order is not by chance: of a thousand pairs one is taken for
such wrongly."""


def order_problem(base: Repetitions, other: Repetitions) -> str:
    """Why the order of these repetitions allows no test of them, "" if chance decided it."""
    if base.moments is None or other.moments is None:
        return UNKNOWN
    if base.moments.timeline is not other.moments.timeline:
        return OTHER_RUN
    positions = np.concatenate([base.moments.positions, other.moments.positions])
    is_other = (np.arange(positions.size) >= base.size)[np.argsort(positions)]
    if in_rounds(base, other):
        return "" if _first_by_chance(base, other) else NOT_BY_CHANCE
    runs = 1 + int(np.count_nonzero(np.diff(is_other)))
    return NOT_BY_CHANCE if not runs_by_chance(runs, base.size, other.size) else ""


def in_rounds(base: Repetitions, other: Repetitions) -> bool:
    """Whether both rows ran once in each of the same rounds."""
    rounds = [one.moments and one.moments.rounds for one in (base, other)]
    if any(one is None for one in rounds):
        return False
    first, second = (np.sort(one) for one in rounds)
    distinct = bool(np.all(np.diff(first) > 0))
    return distinct and np.array_equal(first, second)


@functools.cache
def runs_by_chance(runs: int, n: int, m: int) -> bool:
    """Whether chance may have made so many runs (of neighbours of one kind) of n and m things.

    The test of A. Wald and J. Wolfowitz, Annals of Mathematical Statistics 11, 1940, 147-162,
    two-sided. The fewest runs that there can be, and the most, are never taken for chance: so few
    things may have no p that is below CERTAIN. With fewer than four of a kind every order may be of
    chance, and no test decides anything.
    """
    if min(n, m) < 4:
        return True
    if runs <= 2 or runs == 2 * min(n, m) + (n != m):
        return False
    mean, deviation = _runs_law(n, m)
    return bool(2 * special.ndtr(-(abs(runs - mean) - 0.5) / deviation) >= CERTAIN)


def takes_turns(runs: int, n: int, m: int) -> bool:
    """Whether there are not too few runs of n and m things; the same test, one-sided, at 5 %."""
    if min(n, m) == 0:
        return False
    mean, deviation = _runs_law(n, m)
    return bool(special.ndtr((runs - mean + 0.5) / deviation) >= 0.05)


def _runs_law(n: int, m: int) -> tuple[float, float]:
    """The mean of the number of runs, and its standard deviation."""
    mean = 1 + 2 * n * m / (n + m)
    return mean, math.sqrt(max((mean - 1) * (mean - 2) / (n + m - 1), 1e-9))


def _first_by_chance(base: Repetitions, other: Repetitions) -> bool:
    """Whether chance may have decided which of the two came first in each round."""
    first, second = (
        one.moments.positions[np.argsort(one.moments.rounds)] for one in (base, other)
    )
    ahead = int(np.count_nonzero(first < second))
    if ahead in (0, first.size):
        return False
    return bool(stats.binomtest(ahead, first.size).pvalue >= CERTAIN)
