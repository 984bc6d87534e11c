"""Derives a rule from a crossover map, for programmers to put into code.

A rule names a way for one buffer, and for several buffers a way up to a buffer size and another
above it. It minimises the mean loss over the map's cells. A way costs nothing in a cell where no
other is known to beat it, and each further case must lower the mean loss by at least WORTH. Among
equally good rules the one with the simplest ways (Way's order) wins.
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
"""The gain of a further case, as a share of the time on average over the cells, that justifies it."""

MOST_CASES = 3
"""Most cases for several buffers: they must fit into a sentence or two."""

A_HAIR = 1e-9
"""The loss per cell that a simpler way may add and still be preferred."""

SMALL = 0.05
"""Differences below this share of the time hardly matter to a program."""


@dataclass(frozen=True)
class Case:
    """One case of a rule.

    fewest, most: the numbers of buffers; None for any number above.
    above, up_to: the buffers' sizes, as in the rows' names: more than `above` (None: from the
    smallest), up to and including `up_to` (None: all larger ones).
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
    """A rule and its cost.

    small_from: from this size on the advised way and separate writes differ by less than SMALL for
    several buffers, in the median over the counts; None if they never do.
    mean_loss, worst_loss: the cost of the rule against the best way of each cell, as a share of the
    time.
    """

    cases: list[Case]
    small_from: str | None
    mean_loss: float
    worst_loss: float

    def way_for(self, count: int, size: str, sizes: Sequence[str]) -> Way | None:
        """Return the advised way for a cell; `sizes` are the map's, in their order."""
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
    """Neighbouring sizes first..last (indices) with one way for all."""

    first: int
    last: int
    way: Way


def advise(crossover: Map) -> Advice:
    """Derive the advice from a map's cells; a map has at least one."""
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
        """Return the total cost and the best segments for the counts from `fewest` to `most`."""
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
    """Divide the sizes into at most MOST_CASES segments at the lowest cost.

    sums: losses, cells in which each way is known, and cells, cumulated over the sizes. worth: the
    cost of a segment. Returns the cost, the segments' ends, and each one's way as an index.
    """
    size = len(sums[2]) - 1
    costs = np.full((size + 1, size + 1), math.inf)
    ways = np.zeros((size + 1, size + 1), dtype=int)
    for end in range(1, size + 1):
        by_way = _costs(*(part[end] - part[:end] for part in sums))
        ways[:end, end] = np.argmin(by_way, axis=1)
        costs[:end, end] = np.min(by_way, axis=1) + worth
    # reached[k][end]: the lowest cost of the sizes before `end` in k segments, and the last one's
    # begin.
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
    """Return the cost of each way in segments with these sums; cells without the way count like the rest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = lost * cells / seen + A_HAIR * cells * np.arange(len(Way))
    # Never advise a way that few of the cells have.
    return np.where((seen > 0) & (2 * seen >= cells), costs, math.inf)


def _solve_by_count(
    problem: _Problem, counts: Sequence[int]
) -> list[tuple[int, int | None, list[_Segment]]]:
    """Find cases for all counts together or, if that pays, for few and for many buffers."""
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
    """Pair the advised way with the alternative that may hardly differ: gathering for separate
    writes, separate writes for the others.
    """
    return way, Way.SEPARATE if way is not Way.SEPARATE else Way.GATHER


def _small_from(crossover: Map, advice: Advice) -> str | None:
    """Return the smallest size from which on the choice hardly matters, None if it always matters."""
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
