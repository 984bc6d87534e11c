"""Launches of a program: each is one value, and neighbours in time make pairs.

Repetitions of one process agree better with each other than with those of the next process, and
better within a minute than from one minute to the next (memory layout, caches, clock, hour). So two
programs are compared by the differences of launches that ran next to each other, not of
repetitions. Drift within a launch is not removed: it is a part of the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gatherstats.stats.order import takes_turns
from gatherstats.stats.repetitions import Repetitions

START_UNKNOWN = "when the launches started is not known"
TOO_COARSE = "launches started within the same second, so which came first is not known"
BLOCKS = "the launches of the two sides did not take turns"


@dataclass(frozen=True, eq=False)
class LaunchSet:
    """The launches of one program, in the given order.

    turns: the number of each launch's turn, if launches of two programs took turns; None if
    unknown.
    starts_s: when each started, in seconds of any epoch; NaN where a file does not say.
    """

    turns: np.ndarray | None
    starts_s: np.ndarray


@dataclass(frozen=True, eq=False)
class Launches(Repetitions):
    """A row's median in each launch that has it.

    launches: all launches of the program; indices: the launches of the values.
    """

    launches: LaunchSet | None = None
    indices: np.ndarray | None = None


def pairs_of(base: Launches, other: Launches) -> tuple[np.ndarray, np.ndarray, str]:
    """Pair the values: returns indices into both, and the reason against a test ("" if there is
    none).

    Two rows of the same launch are a pair, and so are launches of two programs that ran next to
    each other.
    """
    if base.launches is other.launches:
        return *_same(base.indices, other.indices), ""
    turns = [one.launches.turns for one in (base, other)]
    if all(one is not None for one in turns):
        return (
            *_same(*(t[one.indices] for t, one in zip(turns, (base, other)))),
            "",
        )
    return _neighbours(*(one.launches.starts_s[one.indices] for one in (base, other)))


def _same(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, left, right = np.intersect1d(first, second, return_indices=True)
    return left, right


def _neighbours(
    base_s: np.ndarray, other_s: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str]:
    """Pair each launch with the next one, if that is of the other side and still unpaired."""
    nobody = np.empty(0, dtype=int)
    starts = np.concatenate([base_s, other_s])
    if np.isnan(starts).any():
        return nobody, nobody, START_UNKNOWN
    order = np.argsort(starts, kind="stable")
    is_other = (order >= base_s.size).tolist()
    for second in np.unique(starts):
        sides = [int(np.count_nonzero(one == second)) for one in (base_s, other_s)]
        if min(sides) > 0 and max(sides) > 1:
            return nobody, nobody, TOO_COARSE
    runs = 1 + sum(a != b for a, b in zip(is_other, is_other[1:]))
    if not takes_turns(runs, base_s.size, other_s.size):
        return nobody, nobody, BLOCKS
    left, right, waiting = [], [], None
    for place in order:
        if waiting is not None and (waiting >= base_s.size) != (place >= base_s.size):
            left.append(min(waiting, place))
            right.append(max(waiting, place) - base_s.size)
            waiting = None
        else:
            waiting = place
    return np.array(left, dtype=int), np.array(right, dtype=int), ""
