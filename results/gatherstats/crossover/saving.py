"""Compares the ways of saving a file: of creating it (--create), and of handing its bytes over.

Each case is one file: its length, its buffers, its durability. Ways that replace an old file are
compared with renaming a new one over it, the only way that leaves one of the two whole after a
crash. The verdicts are the comparison's, corrected by Benjamini and Hochberg over all pairs of a
run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gatherstats.crossover.map import STRATEGIES, Way, bytes_of
from gatherstats.data.names import RowName, whole_number
from gatherstats.stats.effect import FEWEST_REPETITIONS
from gatherstats.stats.parts import Part, combine
from gatherstats.stats.samples import RowSample
from gatherstats.stats.verdict import THRESHOLD, Verdict, benjamini_hochberg, judge

SAFE = "rename"
"""The way that leaves the old file or the new one after a crash."""

REPLACING = (SAFE, "truncate", "overwrite", "settle", "unlink")
"""Ways that replace an old file, the safe one first."""

NEW = ("new", "dotnet")
"""Ways that create a new file, the plainest first."""

_OF_A_WAY = ("create", "strategy")
"""The keys in which the rows of a case differ."""

_WAY_OF = {name: way for way, names in STRATEGIES.items() for name in names}


@dataclass
class Case:
    """One file, saved in several ways.

    name: of one of its rows.
    apart: the keys that tell it from others of the same length and durability, as they stand in names.
    rows: by the way of creating and the way of handing over.
    against: the verdict on each way of creating, of the plainest handing over: of the replacing ones
    against SAFE, of the others against the first of NEW.
    handing: by way of creating, the verdict on gathering against separate writes, and on copying
    against gathering.
    """

    name: RowName
    rows: dict[tuple[str, Way], RowSample]
    against: dict[str, Verdict] = field(default_factory=dict)
    handing: dict[tuple[str, Way], Verdict] = field(default_factory=dict)
    apart: str = ""

    @property
    def creates(self) -> list[str]:
        """The ways of creating the file, those of new files first; unknown ones last."""
        present = dict.fromkeys(create for create, _ in self.rows)
        known = [create for create in (*NEW, *REPLACING) if create in present]
        return known + [create for create in present if create not in known]

    @property
    def plain(self) -> Way:
        """The plainest measured way of handing over."""
        return next(way for way in Way if any(w is way for _, w in self.rows))

    @property
    def length(self) -> int:
        """The file's bytes."""
        return whole_number(self.name.keys.get("file_bytes", "")) or 0

    @property
    def sync(self) -> str:
        return self.name.keys.get("sync", "none")

    def row(self, create: str, way: Way | None = None) -> RowSample | None:
        """Return a row, by default of the plainest way of handing over."""
        return self.rows.get((create, self.plain if way is None else way))


def find_cases(
    measured: Sequence[RowSample], threshold: float = THRESHOLD
) -> list[Case]:
    """Find the files that a run saved in at least two ways of creating, by durability and then by
    length.

    measured: all rows of the run, with drift removed.
    """
    by_rest: dict[tuple, Case] = {}
    for one in measured:
        name = one.row.name
        way = _WAY_OF.get(name.keys.get("strategy", ""))
        if name.scope != "file" or way is None or not _is_usable(one):
            continue
        create = name.value("create")
        if create is not None:
            rest = name.without(*_OF_A_WAY)
            case = by_rest.setdefault(rest, Case(name, {}))
            case.rows.setdefault((create, way), one)
    cases = [case for case in by_rest.values() if len(case.creates) > 1]
    syncs = list(dict.fromkeys(case.sync for case in cases))
    cases.sort(key=lambda c: (syncs.index(c.sync), c.length, bytes_of_name(c.name)))
    _judge(cases, threshold)
    _tell_apart(cases)
    return cases


def bytes_of_name(name: RowName) -> float:
    """Return the bytes of a row's buffers, 0 if the name does not say."""
    return bytes_of(name.keys.get("size", "")) or 0.0


def time_of(one: RowSample) -> Part:
    """Return a row's median with its interval."""
    return combine([(1, one.sample.times_s)])


def _is_usable(one: RowSample) -> bool:
    times = None if one.sample is None else getattr(one.sample, "times_s", None)
    return times is not None and times.size >= FEWEST_REPETITIONS and times.min() > 0


def _tell_apart(cases: Sequence[Case]) -> None:
    alike: dict[tuple, list[Case]] = {}
    for case in cases:
        alike.setdefault((case.sync, case.length), []).append(case)
    for members in alike.values():
        names = [case.name for case in members]
        keys = dict.fromkeys(key for name in names for key in name.keys)
        for key in keys:
            if key not in _OF_A_WAY and len({name.keys.get(key) for name in names}) > 1:
                for case in members:
                    case.apart += f" {key}:{case.name.keys.get(key, 'none')}"


def _judge(cases: Sequence[Case], threshold: float) -> None:
    pairs, owners = [], []
    for case in cases:
        for base, others in ((SAFE, REPLACING[1:]), (NEW[0], NEW[1:])):
            for create in others:
                pairs.append((case.row(base), case.row(create)))
                owners.append((case.against, create))
        for create in case.creates:
            for base, way in ((Way.SEPARATE, Way.GATHER), (Way.GATHER, Way.COALESCE)):
                pairs.append((case.row(create, base), case.row(create, way)))
                owners.append((case.handing, (create, way)))
    there = [i for i, pair in enumerate(pairs) if None not in pair]
    samples = [tuple(one.sample for one in pairs[i]) for i in there]
    for i, verdict in zip(there, judge(samples, threshold, benjamini_hochberg)):
        verdicts, key = owners[i]
        verdicts[key] = verdict
