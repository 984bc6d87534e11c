"""Several launches of one program, each of which is one value, and which of them belong together.

Repetitions within one process agree better with each other than with those of the next process, and
with those of the same minute better than with those of the next (memory layout, what was cached, the
clock, the hour). So what tells two programs apart is how launches that ran next to each other differ,
not how their repetitions do. Drift within a launch is not taken out: it is a part of what differs.
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
    """The launches of one program, in the order in which they are given.

    turns: for each the number of the turn in which it was made, where launches of two programs took
    turns; None where that is not known.
    starts_s: when each started, in seconds of any epoch; NaN where a file does not say.
    """

    turns: np.ndarray | None
    starts_s: np.ndarray


@dataclass(frozen=True, eq=False)
class Launches(Repetitions):
    """A row's median in each launch that has it.

    launches: of which program; indices: which of these the values are of.
    """

    launches: LaunchSet | None = None
    indices: np.ndarray | None = None


def pairs_of(base: Launches, other: Launches) -> tuple[np.ndarray, np.ndarray, str]:
    """Which values belong together: indices into both, and why they allow no test ("" if they do).

    Rows of the same launches are pairs. Launches of two programs are, that ran next to each other.
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
    """Each launch with the next one, if that is of the other side and not taken yet."""
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
