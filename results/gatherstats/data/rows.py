"""The data that all other packages work on: a results file, its rows, and their repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gatherstats.data.names import RowName


@dataclass(frozen=True)
class Aggregates:
    """A summary of a row whose repetitions are not in the file. Times in seconds.

    n: the number of repetitions in the summary, None if unknown.
    """

    n: int | None = None
    mean_s: float | None = None
    stddev_s: float | None = None
    median_s: float | None = None
    min_s: float | None = None
    max_s: float | None = None

    @property
    def can_be_tested(self) -> bool:
        """Whether Welch's test can use it: a mean, a spread and a number of repetitions."""
        return (
            self.mean_s is not None
            and self.stddev_s is not None
            and self.n is not None
            and self.n >= 2
        )


@dataclass
class Row:
    """One benchmark: its repetitions, or their aggregates.

    times_s: real time per operation in seconds, one for each repetition, in the file's order.
    start_s: when each repetition began, seconds after the process; None where it was not noted.
    counters: each counter's value per repetition (or one value, from an aggregate).
    error: why the row failed; None for a row that was measured. A failed row has no times.
    expected: how many repetitions the file says there were, None where it does not say.
    step_s: the unit of times that the file stores as whole numbers, in seconds; 0 for finer times.
    """

    name: RowName
    times_s: np.ndarray = field(default_factory=lambda: np.empty(0))
    start_s: np.ndarray | None = None
    aggregates: Aggregates | None = None
    counters: dict[str, np.ndarray] = field(default_factory=dict)
    label: str = ""
    error: str | None = None
    expected: int | None = None
    step_s: float = 0.0

    @property
    def failed(self) -> bool:
        return self.error is not None

    @property
    def has_repetitions(self) -> bool:
        return self.times_s.size > 0

    def counter(self, name: str) -> float | None:
        """The median of a counter over the repetitions, None if no repetition has it."""
        values = self.counters.get(name)
        return None if values is None or values.size == 0 else float(np.median(values))


@dataclass
class Run:
    """One results file.

    context: the file's context; keys of this suite start with `gatherbench.`.
    rows: in the order in which the benchmarks were registered.
    problems: one line for each thing in the file that could not be used.
    """

    path: str
    context: dict[str, object]
    rows: list[Row]
    problems: list[str] = field(default_factory=list)

    def setting(self, key: str) -> str | None:
        """Return the context's text for `gatherbench.<key>`, None if absent or empty."""
        value = self.context.get(f"gatherbench.{key}")
        return None if value is None or str(value) == "" else str(value)


PHASES = ("open", "write", "sync", "close")
"""The parts of an operation's time, in their order. Removing and renaming a file are part of closing it."""

SMALL_PHASE = 0.02
"""A phase that takes less than this share of the time is not worth a column."""


def phases(row: Row) -> dict[str, float]:
    """How long each phase of an operation took, in seconds; {} where the row does not say.

    In the scope `op`, and in older files, these are writing and syncing alone.
    """
    times = {phase: row.counter(f"{phase}_ns") for phase in PHASES}
    if row.failed or times["write"] is None or times["sync"] is None:
        return {}
    return {phase: ns / 1e9 for phase, ns in times.items() if ns is not None}


def shown_phases(rows: Sequence[Row]) -> list[str]:
    """Choose the phases that are worth a column beside the time of these rows.

    They take more than a small share of the time in any row; writing alone is worth none.
    """
    shown = set()
    for row in rows:
        found = phases(row)
        if "open" not in found:
            shown |= found.keys()
            continue
        whole = sum(found.values())
        shown |= {phase for phase, s in found.items() if s > SMALL_PHASE * whole}
    return [] if shown == {"write"} else [p for p in PHASES if p in shown]


def device_share(row: Row) -> float | None:
    """Return the bytes sent to the device over the bytes written, by one operation; None if
    unknown.

    Above 1 the file system added bytes of its own; below 1 some are still in memory.
    """
    sent, rates = row.counter("device_bytes"), row.counters.get("bytes_per_second")
    if sent is None or rates is None or rates.size != row.times_s.size:
        return None
    written = float(np.median(rates * row.times_s))
    # The counter is the mean of the threads, the rate their sum.
    return sent * row.name.threads / written if written > 0 else None
