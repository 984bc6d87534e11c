"""Finds out which way of writing N buffers wins, over the buffers' size and number.

The three ways are a call for each buffer, one gathering call, and one call after copying. A cell of
a map holds one size and one count. Its verdicts are the comparison's, on each pair of ways, with the
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
"""Sizes of a map, and counts: dividing more into cases would take minutes."""

FEWEST_CELLS = 2
"""A map has at least so many cells in which ways can be compared."""


class Way(str, Enum):
    """What a program can do with N buffers, the simplest first."""

    SEPARATE = "separate"
    GATHER = "gather"
    COPY = "copy"


STRATEGIES = {
    Way.SEPARATE: ("pwrite", "write"),
    Way.GATHER: ("pwritev", "writev", "pwritev2"),
    Way.COPY: ("coalesce",),
}
"""The strategies that stand for a way. Where a map has several, the one with the most rows does."""

_WAY_OF = {strategy: way for way, names in STRATEGIES.items() for strategy in names}

# What a cell is of; the names' other keys say of which map it is.
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
        """The ways that no other way is known to beat; several where that is too small to tell."""
        return [w for w in self.times_s if not any(self._beats(o, w) for o in Way)]

    @cached_property
    def leader(self) -> Way:
        """Of the best ways the one with the smallest median."""
        return min(self.best, key=lambda way: self.times_s[way])

    @property
    def beaten(self) -> list[Way]:
        """The ways that are surely slower than another."""
        return [way for way in self.times_s if way not in self.best]

    @cached_property
    def next_best(self) -> Way | None:
        """The fastest of the ways that are beaten, None where nothing can be told apart."""
        return min(self.beaten, key=lambda way: self.times_s[way], default=None)

    @property
    def saved(self) -> float | None:
        """The share of the next best way's time that the leader saves; None without a winner."""
        if self.next_best is None:
            return None
        return 1 - self.ratio(self.leader, self.next_best)

    @cached_property
    def is_same(self) -> bool:
        """Whether the best ways are known to take the same time, rather than not to be told apart."""
        best = self.best
        return all(
            verdict.outcome is Outcome.SAME
            for pair, verdict in self.verdicts.items()
            if pair[0] in best and pair[1] in best
        )

    def ratio(self, way: Way, other: Way) -> float:
        """The time of `way` divided by that of `other`, as the comparison has it."""
        if (other, way) in self.verdicts:
            return self.verdicts[other, way].effect.ratio
        return 1 / self.verdicts[way, other].effect.ratio

    def loss(self, way: Way) -> float | None:
        """What choosing `way` costs against the leader, as the logarithm of the ratio of times.

        None where it was not measured; 0 where it is not known to be beaten.
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

    scope, keys, suffixes: what the names of all its rows have in common.
    strategies: which strategy stands for each way that was measured.
    missing: what a complete map would have besides, a line for each kind; not yet safe to print.
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
        """What all rows have in common, with the target and the durability first."""
        parts = [f"{key}:{value}" for key, value in self.keys.items()]
        suffixes = [s for s in self.suffixes if s not in ("real_time", "threads:1")]
        return " ".join([self.scope, *parts, *suffixes])


@dataclass(frozen=True)
class Maps:
    """All maps of a run. problems: what failed or cannot stand in a map, not yet safe to print."""

    maps: list[Map]
    problems: list[str]


def bytes_of(size: str) -> float | None:
    """The bytes of a buffer, on average over a pattern such as "24+4096"; None if it is no size."""
    parts = [whole_number(part) for part in size.split("+")]
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if len(known) == len(parts) else None


def make_maps(
    run: Run, measured: Sequence[RowSample], threshold: float = THRESHOLD
) -> Maps:
    """The maps of a run; differences up to `threshold` (a share of the time) count as none.

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
    """A map before its pairs were judged: all maps' pairs are judged together, which is faster."""

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
        """The map, with as many of `verdicts` as it has pairs."""
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
        made = Map(scope, keys, suffixes, self.strategies, cells)
        made.missing.extend(self._missing(made))
        return made

    def _missing(self, made: Map) -> list[str]:
        lines = [
            f"no rows of {' or '.join(STRATEGIES[way])} ({way.value})"
            for way in Way
            if way not in self.strategies
        ]
        gaps = len(made.sizes) * len(made.counts) - len(made.cells)
        if gaps:
            lines.append(f"{_cells(gaps)} without two ways to compare")
        known = [way for way in Way if way in self.strategies]
        partial = sum(len(cell.times_s) < len(known) for cell in made.cells.values())
        if partial:
            lines.append(f"{_cells(partial)} with two of the three ways only")
        for strategy, rows in self.other.items():
            shown = self.strategies[_WAY_OF[strategy]]
            lines.append(f"{rows} of {strategy}, for which {shown} stands")
        reasons = Counter(map(_why_untold, made.cells.values()))
        return lines + [f"{_cells(n)} {why}" for why, n in reasons.items() if why]


def _why_untold(cell: Cell) -> str:
    """Why a cell allows no verdict on one of its pairs; "" if it allows all."""
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
    """For each way the strategy with the most rows, of equals the first of STRATEGIES."""
    rows = Counter(one.row.name.keys["strategy"] for one in members)
    chosen = {}
    for way, names in STRATEGIES.items():
        present = [name for name in names if rows[name]]
        if present:
            chosen[way] = max(present, key=lambda name: rows[name])
    return chosen
