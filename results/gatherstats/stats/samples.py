"""Prepares rows for comparison: a run's repetitions without drift, launches' medians, or a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from gatherstats.data.rows import Aggregates, Row, Run
from gatherstats.stats.drift import Drift, remove_drift
from gatherstats.stats.launches import Launches, LaunchSet
from gatherstats.stats.medians import medians
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.verdict import Sample


@dataclass(frozen=True)
class RowSample:
    """A row and its sample.

    sample: None for a row that failed.
    centre_s: the row's term in a ratio, in seconds: the median, a summary's mean or median, or the
    geometric mean of launches' medians.
    """

    row: Row
    sample: Sample | None
    centre_s: float | None

    @property
    def n(self) -> int | None:
        """The number of values in the sample, None if unknown."""
        if isinstance(self.sample, Repetitions):
            return self.sample.size
        return self.sample.n if self.sample else None


def measure(rows: Sequence[Row]) -> tuple[list[RowSample], Drift | None]:
    """Prepare the rows of one run, in their order; returns the amount of drift removed too."""
    clean, drift = remove_drift(rows)
    return _with_centres(rows, clean), drift


def measure_alone(rows: Sequence[Row]) -> list[RowSample]:
    """Prepare the rows as measured, with drift: for the comparison of two runs."""
    return _with_centres(
        rows, [Repetitions(row.times_s, step_s=row.step_s) for row in rows]
    )


def measure_launches(
    runs: Sequence[Run], turns: Sequence[int] | None = None
) -> tuple[list[RowSample], list[str]]:
    """Make one row for each name; its times are the launches' medians in seconds.

    turns: the turn of each launch, if launches of two programs took turns.
    Returns the rows, and a line for each row that some launches lack. A row that failed in one launch
    has failed.
    """
    together = LaunchSet(
        None if turns is None else np.array(turns),
        np.array([_start_s(run) for run in runs]),
    )
    found: dict[str, list[tuple[int, Row]]] = {}
    for i, run in enumerate(runs):
        for row in run.rows:
            found.setdefault(row.name.text, []).append((i, row))
    problems = [
        f"{name}: in {len(rows)} of {len(runs)} launches only"
        for name, rows in found.items()
        if len(rows) < len(runs)
    ]
    return [_together(rows, together) for rows in found.values()], problems


def _with_centres(
    rows: Sequence[Row], repetitions: Sequence[Repetitions]
) -> list[RowSample]:
    repeated = [
        i for i, row in enumerate(rows) if repetitions[i].size and not row.failed
    ]
    centres = dict(zip(repeated, medians([repetitions[i].times_s for i in repeated])))
    return [
        RowSample(row, repetitions[i], centres[i])
        if i in centres
        else RowSample(row, *_of_aggregates(row))
        for i, row in enumerate(rows)
    ]


def _of_aggregates(row: Row) -> tuple[Aggregates | None, float | None]:
    known = row.aggregates
    if row.failed or known is None:
        return None, None
    if known.can_be_tested:
        return known, known.mean_s
    return known, known.mean_s if known.median_s is None else known.median_s


def _start_s(run: Run) -> float:
    """Return a launch's start, from Google Benchmark's date, to the second."""
    try:
        return datetime.fromisoformat(str(run.context.get("date"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return float("nan")


def _together(rows: list[tuple[int, Row]], launches: LaunchSet) -> RowSample:
    first = rows[0][1]
    failed = [row.error for _, row in rows if row.failed]
    if failed:
        error = f"in {len(failed)} of {len(rows)} launches: {failed[0]}"
        return RowSample(Row(first.name, label=first.label, error=error), None, None)
    centres = [(i, centre) for i, row in rows if (centre := _centre_s(row)) is not None]
    indices = np.array([i for i, _ in centres], dtype=int)
    times_s = np.array([centre for _, centre in centres])
    size = launches.starts_s.size
    row = Row(first.name, times_s, label=first.label, expected=size)
    if not centres:
        return RowSample(row, None, None)
    step_s = max(row.step_s for _, row in rows)
    positive = bool(np.all(times_s > 0))
    centre_s = float(np.exp(np.mean(np.log(times_s)))) if positive else 0.0
    return RowSample(row, Launches(times_s, None, step_s, launches, indices), centre_s)


def _centre_s(row: Row) -> float | None:
    """Return a launch's value: the median as measured, or from its aggregates."""
    if row.has_repetitions:
        return float(np.median(row.times_s))
    return _of_aggregates(row)[1]
