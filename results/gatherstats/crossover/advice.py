"""Turns a crossover map into a rule that a programmer can put into code.

A rule names a way for one buffer, and for several buffers a way up to a buffer size and another
above it. It is the one with the smallest mean loss over the map's cells, where a way costs nothing
in a cell in which no other is known to beat it, and where each further case has to lower the mean
loss by at least WORTH. Of equally good rules the one with the simplest ways (Way's order) is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.crossover.map import Cell, Map, Maps, Way
from gatherstats.data.rows import Run
from gatherstats.stats.verdict import THRESHOLD

WORTH = THRESHOLD
"""By how much of the time, on average over the cells, a further case must pay."""

MOST_CASES = 3
"""So many cases for several buffers fit into a sentence or two."""

A_HAIR = 1e-9
"""The loss per cell by which a simpler way is preferred among equally good ones."""

SMALL = 0.05
"""Below this share of the time a program hardly needs to choose."""


@dataclass(frozen=True)
class Case:
    """One case of a rule.

    fewest, most: how many buffers, None for any number above.
    above, up_to: which sizes it is for, as in the rows' names: more than `above` (None: from the
    smallest), up to and with `up_to` (None: all larger ones).
    clear: whether the way surely beats another in one cell at least; otherwise it is the simplest.
    """

    fewest: int
    most: int | None
    above: str | None
    up_to: str | None
    way: Way
    clear: bool


@dataclass(frozen=True)
class Advice:
    """A rule and what it is worth.

    small_from: from this size on the advised way and separate writes differ by less than SMALL
    for several buffers, in the median over the counts; None where they do not.
    mean_loss, worst_loss: what following the rule costs against the best way of each cell, as a
    share of the time.
    """

    cases: list[Case]
    small_from: str | None
    mean_loss: float
    worst_loss: float

    def way_for(self, count: int, size: str, sizes: Sequence[str]) -> Way | None:
        """The advised way for a cell; `sizes` are the map's, in their order."""
        position = sizes.index(size)
        for case in self.cases:
            low = -1 if case.above is None else sizes.index(case.above)
            high = len(sizes) if case.up_to is None else sizes.index(case.up_to)
            most = math.inf if case.most is None else case.most
            if low < position <= high and case.fewest <= count <= most:
                return case.way
        return None


@dataclass(frozen=True)
class _Segment:
    """Neighbouring sizes first..last (indices) for which one way is chosen."""

    first: int
    last: int
    way: Way


def advise(crossover: Map) -> Advice:
    """The advice that follows from a map's cells; a map has at least one."""
    sizes, counts = crossover.sizes, crossover.counts
    cells = list(crossover.cells.values())
    losses = [{way: cell.loss(way) for way in Way} for cell in cells]
    problem = _Problem(cells, losses, sizes)
    several = [count for count in counts if count > 1]
    parts: list[tuple[int, int | None, list[_Segment]]] = []
    if 1 in counts:
        parts.append((1, 1, problem.solve(1, 1)[1]))
    if several:
        parts += _solve_by_count(problem, several)
    cases = [
        case
        for fewest, most, segments in parts
        for case in _cases(segments, crossover, fewest, most)
    ]
    draft = Advice(cases, None, 0.0, 0.0)
    followed = []
    for cell, loss in zip(cells, losses):
        way = draft.way_for(cell.count, cell.size, sizes)
        if way is not None and loss[way] is not None:
            followed.append(loss[way])
    return Advice(
        cases,
        _small_from(crossover, draft),
        math.expm1(float(np.mean(followed))) if followed else 0.0,
        math.expm1(max(followed, default=0.0)),
    )


@dataclass(frozen=True)
class MapsWithAdvice:
    """A run's maps, each with its advice."""

    run: Run
    maps: Maps
    advice: list[Advice]


def with_advice(run: Run, maps: Maps) -> MapsWithAdvice:
    """Derive the advice of each map."""
    return MapsWithAdvice(run, maps, [advise(one) for one in maps.maps])


class _Problem:
    """Finds the best cases for some of a map's counts, with sums over the cells of each size."""

    def __init__(
        self,
        cells: Sequence[Cell],
        losses: Sequence[dict[Way, float | None]],
        sizes: Sequence[str],
    ) -> None:
        self.worth = WORTH * len(cells)
        self.counts = np.array([cell.count for cell in cells])
        self.rows = np.array([sizes.index(cell.size) for cell in cells])
        self.losses = np.array(
            [[math.nan if v is None else v for v in row.values()] for row in losses]
        )

    def solve(self, fewest: int, most: int | None) -> tuple[float, list[_Segment]]:
        """The total cost and the best segments for the counts from `fewest` to `most`."""
        limit = math.inf if most is None else most
        chosen = (fewest <= self.counts) & (self.counts <= limit)
        used, position = np.unique(self.rows[chosen], return_inverse=True)
        losses = self.losses[chosen]
        known = ~np.isnan(losses)
        shape = (used.size + 1, len(Way))
        lost, seen, cells = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], 1))
        np.add.at(lost, position + 1, np.where(known, losses, 0.0))
        np.add.at(seen, position + 1, known)
        np.add.at(cells, position + 1, 1.0)
        sums = tuple(np.cumsum(part, axis=0) for part in (lost, seen, cells))
        total, ends, ways = _divide(sums, self.worth)
        return total, [
            _Segment(int(used[a]), int(used[b - 1]), list(Way)[w])
            for a, b, w in zip(ends[:-1], ends[1:], ways)
        ]


def _divide(
    sums: tuple[np.ndarray, np.ndarray, np.ndarray], worth: float
) -> tuple[float, list[int], list[int]]:
    """The cheapest division of the sizes into at most MOST_CASES segments.

    sums: losses, cells in which each way is known, and cells, cumulated over the sizes.
    worth: what each segment costs.
    Returns the cost, where segments begin and end, and each one's way as an index.
    """
    size = len(sums[2]) - 1
    costs = np.full((size + 1, size + 1), math.inf)
    ways = np.zeros((size + 1, size + 1), dtype=int)
    for end in range(1, size + 1):
        by_way = _costs(*(part[end] - part[:end] for part in sums))
        ways[:end, end] = np.argmin(by_way, axis=1)
        costs[:end, end] = np.min(by_way, axis=1) + worth
    # reached[k][end]: the least cost of the sizes before `end` in k segments, and where the last begins.
    reached = [np.where(np.arange(size + 1) == 0, 0.0, math.inf)]
    begins = []
    for _ in range(min(MOST_CASES, size)):
        totals = reached[-1][:, np.newaxis] + costs
        begins.append(np.argmin(totals, axis=0))
        reached.append(np.min(totals, axis=0))
    number = 1 + int(np.argmin([row[size] for row in reached[1:]]))
    ends = [size]
    for k in range(number, 0, -1):
        ends.insert(0, int(begins[k - 1][ends[0]]))
    chosen = [int(ways[a, b]) for a, b in zip(ends[:-1], ends[1:])]
    return float(reached[number][size]), ends, chosen


def _costs(lost: np.ndarray, seen: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """What each way costs in segments with these sums; cells without the way count as the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = lost * cells / seen + A_HAIR * cells * np.arange(len(Way))
    # A way that few of the cells know is no advice for them.
    return np.where((seen > 0) & (2 * seen >= cells), costs, math.inf)


def _solve_by_count(
    problem: _Problem, counts: Sequence[int]
) -> list[tuple[int, int | None, list[_Segment]]]:
    """Cases for all counts together or, where that pays, for few and for many buffers."""
    cost, segments = problem.solve(counts[0], None)
    best = [(counts[0], None, segments)]
    for limit in counts[:-1]:
        few_cost, few = problem.solve(counts[0], limit)
        many_cost, many = problem.solve(limit + 1, None)
        total = few_cost + many_cost
        if total < cost and len(few) + len(many) <= MOST_CASES:
            cost, best = total, [(counts[0], limit, few), (limit + 1, None, many)]
    return best


def _cases(
    segments: Sequence[_Segment], crossover: Map, fewest: int, most: int | None
) -> list[Case]:
    sizes = crossover.sizes
    cases = []
    for i, segment in enumerate(segments):
        inside = [
            cell
            for (size, count), cell in crossover.cells.items()
            if size in sizes[segment.first : segment.last + 1]
            and fewest <= count <= (math.inf if most is None else most)
        ]
        clear = any(segment.way in cell.best and cell.beaten for cell in inside)
        above = sizes[segments[i - 1].last] if i else None
        up_to = sizes[segment.last] if i < len(segments) - 1 else None
        cases.append(Case(fewest, most, above, up_to, segment.way, clear))
    return cases


def small_pair(way: Way) -> tuple[Way, Way]:
    """An advised way, and the one that it is held against where the choice may hardly matter.

    For separate writes that is gathering, which they forgo; for others it is separate writes.
    """
    return way, Way.SEPARATE if way is not Way.SEPARATE else Way.GATHER


def _small_from(crossover: Map, advice: Advice) -> str | None:
    """The smallest size from which on it hardly matters, None where it always does."""
    sizes = crossover.sizes
    found = None
    for size in reversed(sizes):
        logs = []
        for count in crossover.counts:
            cell = crossover.cells.get((size, count))
            way = advice.way_for(count, size, sizes)
            if cell is None or count == 1 or way is None:
                continue
            other = small_pair(way)[1]
            if way in cell.times_s and other in cell.times_s:
                logs.append(math.log(cell.ratio(way, other)))
        if not logs or abs(math.expm1(float(np.median(logs)))) >= SMALL:
            return found
        found = size
    return found
