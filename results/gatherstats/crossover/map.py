"""Maps which way of writing N buffers wins, by the buffers' size and number.

The three ways are a call for each buffer, one gathering call, and one call after copying. A cell of
a map is one size and one count. It has the comparison's verdict on each pair of ways, with the
correction of Benjamini and Hochberg over all pairs of the map.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import combinations

from gatherstats.data.names import RowName, whole_number
from gatherstats.data.rows import Run
from gatherstats.stats.order import ORDER_PROBLEMS
from gatherstats.stats.samples import RowSample
from gatherstats.stats.verdict import (
    THRESHOLD,
    Outcome,
    Verdict,
    benjamini_hochberg,
    judge,
)

MOST = 100
"""Most sizes, and most counts, of a map: the advice on more would take minutes."""

FEWEST_CELLS = 2
"""Fewest cells of a map with two ways to compare."""


class Way(str, Enum):
    """The ways to write N buffers, the simplest first."""

    SEPARATE = "separate"
    GATHER = "gather"
    COALESCE = "copy"  # the value stands in JSON


STRATEGIES = {
    Way.SEPARATE: ("pwrite", "write"),
    Way.GATHER: ("pwritev", "writev", "pwritev2"),
    Way.COALESCE: ("coalesce",),
}
"""The strategies of each way. A map uses the one with the most rows."""

_WAY_OF = {strategy: way for way, names in STRATEGIES.items() for strategy in names}

# The keys of a cell; the names' other keys are those of its map.
_CELL_KEYS = ("strategy", "count", "size")


@dataclass(frozen=True)
class Cell:
    """One count and size.

    times_s: each measured way's median, in seconds, without drift.
    verdicts: by (base, other), for each pair of measured ways in the order of Way.
    """

    count: int
    size: str
    times_s: dict[Way, float]
    verdicts: dict[tuple[Way, Way], Verdict]

    @cached_property
    def best(self) -> list[Way]:
        """The ways that no other way is known to beat; several if their difference is undecided."""
        return [w for w in self.times_s if not any(self._beats(o, w) for o in Way)]

    @cached_property
    def leader(self) -> Way:
        """The best way with the smallest median."""
        return min(self.best, key=lambda way: self.times_s[way])

    @property
    def beaten(self) -> list[Way]:
        """The ways that are surely slower than another."""
        return [way for way in self.times_s if way not in self.best]

    @cached_property
    def next_best(self) -> Way | None:
        """The fastest of the beaten ways, None if there is none."""
        return min(self.beaten, key=lambda way: self.times_s[way], default=None)

    @property
    def saved(self) -> float | None:
        """The leader's saving, as a share of the next best way's time; None without a winner."""
        if self.next_best is None:
            return None
        return 1 - self.ratio(self.leader, self.next_best)

    @cached_property
    def is_same(self) -> bool:
        """Whether the verdict on the best ways is "same", rather than "undecided"."""
        best = self.best
        return all(
            verdict.outcome is Outcome.SAME
            for pair, verdict in self.verdicts.items()
            if pair[0] in best and pair[1] in best
        )

    def ratio(self, way: Way, other: Way) -> float:
        """Return the comparison's ratio of `way` to `other`."""
        if (other, way) in self.verdicts:
            return self.verdicts[other, way].effect.ratio
        return 1 / self.verdicts[way, other].effect.ratio

    def loss(self, way: Way) -> float | None:
        """Return the cost of `way` against the leader, as the logarithm of the ratio of times.

        None if it was not measured; 0 if it is not known to be beaten.
        """
        if way not in self.times_s:
            return None
        if way in self.best:
            return 0.0
        return max(0.0, math.log(self.ratio(way, self.leader)))

    def _beats(self, way: Way, other: Way) -> bool:
        if (way, other) in self.verdicts:
            return self.verdicts[way, other].outcome is Outcome.SLOWER
        if (other, way) in self.verdicts:
            return self.verdicts[other, way].outcome is Outcome.FASTER
        return False


@dataclass(frozen=True)
class Map:
    """The cells of one target and durability.

    scope, keys, suffixes: the common parts of all its rows' names.
    strategies: the strategy of each measured way.
    missing: the gaps of an incomplete map, a line for each kind; not yet safe to print.
    """

    scope: str
    keys: dict[str, str]
    suffixes: tuple[str, ...]
    strategies: dict[Way, str]
    cells: dict[tuple[str, int], Cell]
    missing: list[str] = field(default_factory=list)

    @cached_property
    def sizes(self) -> list[str]:
        """The buffers' sizes, the smallest first."""
        return sorted({size for size, _ in self.cells}, key=_in_order_of_size)

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of buffers, the smallest first."""
        return sorted({count for _, count in self.cells})

    @property
    def title(self) -> str:
        """The common part of the rows' names, with the target and the durability first."""
        parts = [f"{key}:{value}" for key, value in self.keys.items()]
        suffixes = [s for s in self.suffixes if s not in ("real_time", "threads:1")]
        return " ".join([self.scope, *parts, *suffixes])


@dataclass(frozen=True)
class Maps:
    """All maps of a run. problems: rows that failed or fit into no map, not yet safe to print."""

    maps: list[Map]
    problems: list[str]


def bytes_of(size: str) -> float | None:
    """Return the bytes of a buffer, on average over a pattern such as "24+4096"; None if it is no size."""
    parts = [whole_number(part) for part in size.split("+")]
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if len(known) == len(parts) else None


def make_maps(
    run: Run, measured: Sequence[RowSample], threshold: float = THRESHOLD
) -> Maps:
    """Make the maps of a run; differences up to `threshold` (a share of the time) count as none.

    measured: all rows of the run, with drift removed.
    """
    problems = list(run.problems)
    by_map: dict[object, list[RowSample]] = {}
    for one in measured:
        name = one.row.name
        if _WAY_OF.get(name.keys.get("strategy", "")) is None or not _has_place(name):
            continue
        by_map.setdefault(name.without(*_CELL_KEYS), []).append(one)
        if one.row.failed:
            problems.append(f"{name}: failed: {one.row.error}")
    drafts = [_Draft(members) for members in by_map.values()]
    drafts = [draft for draft in drafts if draft.is_enough]
    for draft in drafts:
        if not draft.has_room:
            problems.append(
                f"no map for {draft.name}: more than {MOST} sizes or counts"
            )
    drafts = [draft for draft in drafts if draft.has_room]
    pairs = [pair for draft in drafts for pair in draft.pairs]
    owners = [i for i, draft in enumerate(drafts) for _ in draft.pairs]
    verdicts = iter(judge(pairs, threshold, benjamini_hochberg, owners))
    return Maps([draft.finish(verdicts) for draft in drafts], problems)


def _has_place(name: RowName) -> bool:
    count = whole_number(name.keys.get("count", ""))
    return bool(count) and bytes_of(name.keys.get("size", "")) is not None


def _in_order_of_size(size: str) -> tuple[float, str]:
    return bytes_of(size) or 0.0, size


class _Draft:
    """A map whose pairs are not judged yet: judging all maps' pairs together is faster."""

    def __init__(self, members: Sequence[RowSample]) -> None:
        self.name = members[0].row.name
        self.strategies = _chosen_strategies(members)
        self.cells: dict[tuple[str, int], dict[Way, RowSample]] = {}
        self.failed = 0
        self.other: Counter[str] = Counter()
        for one in members:
            keys = one.row.name.keys
            way = _WAY_OF[keys["strategy"]]
            if self.strategies[way] != keys["strategy"]:
                self.other[keys["strategy"]] += 1
                continue
            cell = self.cells.setdefault((keys["size"], int(keys["count"])), {})
            if one.sample is None or not one.centre_s:
                self.failed += 1
            else:
                cell[way] = one

    @property
    def is_enough(self) -> bool:
        return sum(len(cell) >= 2 for cell in self.cells.values()) >= FEWEST_CELLS

    @property
    def has_room(self) -> bool:
        return all(len(set(places)) <= MOST for places in zip(*self.cells))

    @property
    def pairs(self) -> list[tuple]:
        return [
            (cell[base].sample, cell[other].sample)
            for cell in self.cells.values()
            for base, other in _pairs_of(cell)
        ]

    def finish(self, verdicts: Iterable[Verdict]) -> Map:
        """Make the map, with as many of `verdicts` as it has pairs."""
        upcoming = iter(verdicts)
        cells = {}
        for (size, count), cell in self.cells.items():
            if len(cell) < 2:
                continue
            times = {way: cell[way].centre_s or 0.0 for way in Way if way in cell}
            judged = {pair: next(upcoming) for pair in _pairs_of(cell)}
            cells[size, count] = Cell(count, size, times, judged)
        keys = {k: v for k, v in self.name.keys.items() if k not in _CELL_KEYS}
        scope, suffixes = str(self.name.scope), self.name.suffixes
        crossover = Map(scope, keys, suffixes, self.strategies, cells)
        crossover.missing.extend(self._missing(crossover))
        return crossover

    def _missing(self, crossover: Map) -> list[str]:
        lines = [
            f"no rows of {' or '.join(STRATEGIES[way])} ({way.value})"
            for way in Way
            if way not in self.strategies
        ]
        gaps = len(crossover.sizes) * len(crossover.counts) - len(crossover.cells)
        if gaps:
            lines.append(f"{_cells(gaps)} without two ways to compare")
        known = [way for way in Way if way in self.strategies]
        partial = sum(
            len(cell.times_s) < len(known) for cell in crossover.cells.values()
        )
        if partial:
            lines.append(f"{_cells(partial)} with two of the three ways only")
        for strategy, rows in self.other.items():
            shown = self.strategies[_WAY_OF[strategy]]
            lines.append(f"{rows} of {strategy}, for which {shown} stands")
        reasons = Counter(map(_why_untold, crossover.cells.values()))
        return lines + [f"{_cells(n)} {why}" for why, n in reasons.items() if why]


def _why_untold(cell: Cell) -> str:
    """Tell why a cell allows no verdict on one of its pairs; "" if it allows all."""
    problems = {v.effect.problem for v in cell.verdicts.values()}
    order = next((p for p in ORDER_PROBLEMS if p in problems), "")
    if order:
        return f"without a verdict: {order}"
    too_few = any(not v.attainable for v in cell.verdicts.values())
    return (
        "with too few repetitions to tell anything"
        if too_few or problems - {""}
        else ""
    )


def _cells(number: int) -> str:
    return f"{number} cell" if number == 1 else f"{number} cells"


def _pairs_of(cell: dict[Way, RowSample]) -> Iterable[tuple[Way, Way]]:
    return combinations([way for way in Way if way in cell], 2)


def _chosen_strategies(members: Sequence[RowSample]) -> dict[Way, str]:
    """Choose for each way the strategy with the most rows, among equals the first of STRATEGIES."""
    rows = Counter(one.row.name.keys["strategy"] for one in members)
    chosen = {}
    for way, names in STRATEGIES.items():
        present = [name for name in names if rows[name]]
        if present:
            chosen[way] = max(present, key=lambda name: rows[name])
    return chosen
