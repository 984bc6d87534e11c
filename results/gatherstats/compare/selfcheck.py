"""Judges a machine by a run of one row, and of the same row with a few bytes more to write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.data.names import whole_number
from gatherstats.data.rows import Row, Run
from gatherstats.errors import UserError
from gatherstats.stats.drift import Drift, remove_drift
from gatherstats.stats.order import order_problem
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.resampling import (
    FOUND,
    correlation_in_time,
    draw,
    share,
    smallest_found,
    verdicts,
)
from gatherstats.stats.verdict import ALPHA, THRESHOLD, Outcome
from gatherstats.stats.verdict_words import drift_text, percent
from gatherstats.text.safe import printable
from gatherstats.text.table import render

EXTRA = (0.01, 0.02, 0.05)
"""The additional bytes of the slower rows, as a share."""

TOLD = 0.0
"""The threshold of verdicts: no difference counts as none, however small it is."""

TRIES = 400
"""Comparisons of a row with itself; half as many of every other kind."""

SIZES = (10, 30, 100)
"""Repetitions for which the smallest detectable difference is computed. The run needs twice as
many; the last size is half of the run's repetitions, if that is less."""

MOST_ROWS = 20
"""Most rows that are checked; each takes a second or so."""

FEWEST = 8
"""Fewest repetitions of a row: two halves of four."""

BASE_BYTES = 100_000_000


@dataclass(frozen=True)
class Slowed:
    """A row with more bytes to write. All fields but n are shares.

    known: the additional bytes; measured: the increase of its median.
    found: the tries that called it slower.
    """

    known: float
    measured: float
    found: float
    n: int


@dataclass(frozen=True)
class SelfCheck:
    """The smallest differences that a machine can detect.

    row: its name; repetitions: of that row; n: of each sample.
    false_alarms: the share of `tries` that called two samples of one row different.
    smallest: by n, the smallest difference that a share of FOUND of the tries finds; None if none
    is.
    correlation: of a repetition's deviation with the next one's, before and after removing drift.
    """

    row: str
    repetitions: int
    n: int
    tries: int
    false_alarms: float
    smallest: dict[int, float | None]
    slowed: list[Slowed]
    drift: Drift | None
    correlation: tuple[float, float]
    random_order: bool

    @property
    def is_believable(self) -> bool:
        """Whether false alarms are at most ALPHA and three standard errors."""
        error = math.sqrt(ALPHA * (1 - ALPHA) / self.tries)
        return self.random_order and self.false_alarms <= ALPHA + 3 * error


def preset_lines(repetitions: int) -> list[str]:
    """Return the suite's options for such a run, a line for each row."""
    return [
        f"--benchmark_min_time=1e-9 --benchmark_repetitions={repetitions} --scope=file"
        " --strategy=pwrite --target=file --sync=none --count=4 --size=16000 --buffers=one"
        f" --file-bytes={round(BASE_BYTES * (1 + extra))}"
        for extra in (0.0, *EXTRA)
    ]


def check(run: Run, rng: np.random.Generator, tries: int = TRIES) -> SelfCheck:
    """Compare the first row with itself, and with the rows that have more bytes to write.

    Raises UserError when the run has no row that would do.
    """
    rows = [row for row in run.rows if _is_usable(row)][:MOST_ROWS]
    if not rows:
        raise UserError(
            f"no row has starting times and {FEWEST} repetitions or more; raise --seconds"
        )
    repetitions = rows[0].times_s.size
    n = min(repetitions // 2, SIZES[-1])
    sizes = [*(size for size in SIZES if size < n), n]
    equal = {size: draw(rows, 0, 0, size, tries // 2, rng) for size in sizes}
    found = verdicts(equal[n] + draw(rows, 0, 0, n, tries - tries // 2, rng), TOLD)
    clean, drift = remove_drift(rows)
    raw = [row.times_s for row in rows]
    return SelfCheck(
        rows[0].name.text,
        repetitions,
        n,
        tries,
        share(found, Outcome.FASTER, Outcome.SLOWER),
        {size: smallest_found(draws) for size, draws in equal.items()},
        _slowed(rows, clean, n, tries // 2, rng),
        drift,
        (
            correlation_in_time(rows, raw),
            correlation_in_time(rows, [one.times_s for one in clean]),
        ),
        not any(order_problem(clean[0], one) for one in clean[1:]),
    )


def report(result: SelfCheck) -> list[str]:
    """Lay out the lines to print."""
    n = result.n
    alarms = round(result.false_alarms * result.tries)
    lines = [
        f"One row, {result.repetitions} repetitions; compared are samples of {n}:",
        printable(result.row),
        "",
        f"False alarms: {alarms} of {result.tries} comparisons of the row with itself"
        f" ({percent(result.false_alarms)}; {percent(ALPHA)} are allowed).",
    ]
    for slowed in result.slowed:
        lines.append(
            f"{percent(slowed.known)} more bytes took {percent(slowed.measured)} more time:"
            f" found {percent(slowed.found)} of the time with {slowed.n} repetitions."
        )
    before, after = result.correlation
    lines.append(
        f"A repetition's deviation and the next one's: correlation {before:.2f}, without drift"
        f" {after:.2f}."
    )
    if result.drift is not None:
        lines.append(drift_text(result.drift))
    cells = [[str(n), _size(s)] for n, s in result.smallest.items()]
    headers = ["Repetitions", f"Smallest difference found {FOUND * 10:.0f} times in 10"]
    return [*lines, "", *render(headers, cells, 0), "", *_conclusion(result)]


def _conclusion(result: SelfCheck) -> list[str]:
    if not result.random_order:
        return ["The rows did not run in random order: this run tells nothing."]
    if not result.is_believable:
        return [
            "Do not believe this machine: it sees differences where there are none."
        ]
    smallest = result.smallest[result.n]
    if smallest is None:
        return [f"No difference can be told here with {result.n} repetitions."]
    lines = [
        f"Differences under {percent(smallest)} cannot be told here with {result.n}"
        " repetitions."
    ]
    if smallest < THRESHOLD:
        lines.append(
            f"(compare.py calls what is surely below {percent(THRESHOLD)} the same; --threshold"
            " changes that.)"
        )
    return lines


def _size(smallest: float | None) -> str:
    return "none" if smallest is None else percent(smallest)


def _is_usable(row: Row) -> bool:
    return (
        not row.failed
        and row.start_s is not None
        and row.times_s.size >= FEWEST
        and bool(np.all(row.times_s > 0))
    )


def _slowed(
    rows: Sequence[Row],
    clean: Sequence[Repetitions],
    n: int,
    tries: int,
    rng: np.random.Generator,
) -> list[Slowed]:
    """Find the rows that differ from the first in the file's size alone, and the share of tries that find it."""
    result = []
    first = rows[0].name
    for i, row in enumerate(rows[1:], start=1):
        if row.name.without("file_bytes") != first.without("file_bytes"):
            continue
        written, base = (
            whole_number(n.keys.get("file_bytes", "")) for n in (row.name, first)
        )
        if not written or not base:
            continue
        known = written / base - 1
        draws = draw(rows, 0, i, n, tries, rng)
        size = min(min(a.size, b.size) for a, b in draws)
        found = share(verdicts(draws, TOLD), Outcome.SLOWER)
        measured = clean[i].median_s / clean[0].median_s - 1
        result.append(Slowed(known, measured, found, size))
    return result
