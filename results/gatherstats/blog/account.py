"""Splits the gain of gathering into parts: fewer kernel entries, vectors, and the rest.

The same loop runs on a file and on /dev/null, where a call only enters the kernel and returns. W, G
and C are the medians with separate writes, with gathering, and with one write of contiguous bytes; NW,
NG and NC are those on /dev/null:

    entry   = NW - NC                the saved calls, at the cost of a call on /dev/null
    vectors = NC - NG                handing over vectors instead: a loss, if below zero
    rest    = (W - G) - (NW - NG)    the file system's work for each call

Their sum is W - G, the whole gain. Work that does not depend on the number of
calls, such as opening the file, cancels out of each difference.

If the rows have the time of each phase, the gain is first split by phase. W and G are then the writes
alone. The writes' rest includes the difference of the phases' medians to the median of all: the parts
add up to the gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.data.names import RowName
from gatherstats.data.rows import PHASES, SMALL_PHASE, Row, phases
from gatherstats.stats.effect import FEWEST_REPETITIONS
from gatherstats.stats.parts import Part, combine
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.samples import RowSample

GATHERED = ("pwritev", "writev")
SEPARATE = ("pwrite", "write")
CONTIGUOUS = "contiguous"
IDLE = "null"
"""The target on which a call costs only its entry."""
OF_FILES = ("create", "keep")
"""Keys that only a file has; its row on /dev/null lacks them."""


@dataclass(frozen=True)
class Account:
    """The parts of one gathered row's gain.

    name: the gathered row on the file.
    gain, entry, vectors, rest: as above; the last three and `others` add up to the first.
    others: the gain of each phase but writing that has any, by the phase's name.
    writes: the gain of the writes, which is entry + vectors + rest; all of the gain without phases.
    calls_saved: calls of each operation that gathering saves.
    call: the cost of one of them on /dev/null.
    """

    name: RowName
    gain: Part
    entry: Part
    vectors: Part
    rest: Part
    calls_saved: int
    call: Part
    writes: Part
    others: dict[str, Part]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the gain."""
        return self.entry, self.vectors, self.rest, *self.others.values()


@dataclass(frozen=True)
class Accounts:
    """The accounts of a run. by_name: by the gathered row's name.

    refused: why a row has none, though all rows for it are there; not yet safe to print.
    """

    by_name: dict[str, Account]
    refused: dict[str, str]


def accounts(measured: Sequence[RowSample]) -> Accounts:
    """Make the accounts that a run's rows allow: one for each gathered row that has its partners.

    measured: all rows of one run, with drift removed.
    """
    found = Accounts({}, {})
    by_name = {
        (one.row.name.without("strategy"), _strategy(one)): one for one in measured
    }
    for one in measured:
        name = one.row.name
        if _strategy(one) not in GATHERED or name.keys.get("target") in (None, IDLE):
            continue
        partners = _partners(name, by_name)
        if partners is None:
            continue
        problem = _problem([one, *partners])
        if problem:
            found.refused[name.text] = problem
        else:
            found.by_name[name.text] = _account(one, *partners)
    return found


def serves_an_account(row: Row, rows: Sequence[Row]) -> bool:
    """Whether a row on /dev/null stands beside the same row on a file, to explain it."""
    name = row.name
    return name.keys.get("target") == IDLE and any(
        other.name.keys.get("target") not in (None, IDLE)
        and other.name.without("target", *OF_FILES) == name.without("target")
        for other in rows
    )


def _strategy(one: RowSample) -> str:
    return one.row.name.keys.get("strategy", "")


def _partners(name: RowName, by_name: dict) -> list[RowSample] | None:
    """Find separate writes on the same target; then separate, gathered, contiguous on /dev/null."""
    strategy = name.keys["strategy"]
    separate = SEPARATE[GATHERED.index(strategy)]
    idle = RowName(name.text, name.scope, {**name.keys, "target": IDLE}, name.suffixes)
    here, there = name.without("strategy"), idle.without("strategy", *OF_FILES)
    keys = [(here, separate), *((there, s) for s in (separate, strategy, CONTIGUOUS))]
    if not all(key in by_name for key in keys):
        return None
    return [by_name[key] for key in keys]


def _problem(rows: Sequence[RowSample]) -> str:
    for one in rows:
        if one.row.failed:
            return f"{one.row.name} failed"
        if not isinstance(one.sample, Repetitions):
            return f"{one.row.name} has no repetitions in the file"
        if one.sample.size < FEWEST_REPETITIONS:
            return f"{one.row.name} has fewer than {FEWEST_REPETITIONS} repetitions"
        if one.sample.times_s.min() <= 0:
            return f"{one.row.name} has a time of zero"
    calls = [one.row.counter("calls") for one in rows]
    if None in calls:
        return "the rows do not say how many calls they make"
    gathered, separate, idle_separate, idle_gathered, together = calls
    if not gathered == idle_gathered == together or separate != idle_separate:
        return "the rows make different numbers of calls"
    return "" if separate - gathered >= 0.5 else "gathering saves no call"


def _account(
    gathered: RowSample,
    separate: RowSample,
    idle_separate: RowSample,
    idle_gathered: RowSample,
    together: RowSample,
) -> Account:
    g, w, nw, ng, nc = (
        one.sample.times_s
        for one in (gathered, separate, idle_separate, idle_gathered, together)
    )
    saved = (separate.row.counter("calls") or 0) - (gathered.row.counter("calls") or 0)
    gain = combine([(1, w), (-1, g)])
    others = _by_phase(separate.row, gathered.row, gain)
    w, g = (
        _of_phase(one.row, "write") if others else one.sample.times_s
        for one in (separate, gathered)
    )
    entry, vectors = combine([(1, nw), (-1, nc)]), combine([(1, nc), (-1, ng)])
    in_writes = gain.time_s - sum(part.time_s for part in others.values())
    return Account(
        gathered.row.name,
        gain=gain,
        entry=entry,
        vectors=vectors,
        rest=combine([(1, w), (-1, g), (-1, nw), (1, ng)]).moved(
            in_writes - entry.time_s - vectors.time_s
        ),
        calls_saved=round(saved),
        call=combine([(1 / saved, nw), (-1 / saved, nc)]),
        writes=combine([(1, w), (-1, g)]).moved(in_writes) if others else gain,
        others=others,
    )


def _by_phase(separate: Row, gathered: Row, gain: Part) -> dict[str, Part]:
    """Return the gain of each phase except writing, if it is more than a small share of the whole gain."""
    found = {}
    if "open" in phases(separate) and "open" in phases(gathered):
        for phase in (phase for phase in PHASES if phase != "write"):
            times = _of_phase(separate, phase), _of_phase(gathered, phase)
            if all(one.size >= FEWEST_REPETITIONS and one.min() > 0 for one in times):
                part = combine([(1, times[0]), (-1, times[1])])
                if abs(part.time_s) > SMALL_PHASE * abs(gain.time_s):
                    found[phase] = part
    return found


def _of_phase(row: Row, phase: str) -> np.ndarray:
    """A phase of each repetition, in seconds; those of the writes are above zero."""
    return row.counters[f"{phase}_ns"] / 1e9
