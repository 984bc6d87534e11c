"""Puts several launches of one program together: each launch's median is then one value.

Repetitions within one process agree better with each other than with those of the next process
(memory layout, what was cached, the clock), so what tells two programs apart is how their launches
differ, not how their repetitions do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gatherstats.data.rows import Row, Run
from gatherstats.stats.drift import Drift
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.samples import RowSample, measure, with_centres


def measure_launches(
    runs: Sequence[Run],
) -> tuple[list[RowSample], list[Drift | None], list[str]]:
    """One row for each name, whose times are the launches' medians in seconds.

    Returns the rows, each launch's drift, and a line for each row that some launches lack. A row
    that failed in one launch has failed.
    """
    found: dict[str, list[RowSample]] = {}
    drifts = []
    for run in runs:
        measured, drift = measure(run.rows)
        drifts.append(drift)
        for one in measured:
            found.setdefault(one.row.name.text, []).append(one)
    problems = [
        f"{name}: in {len(rows)} of {len(runs)} launches only"
        for name, rows in found.items()
        if len(rows) < len(runs)
    ]
    together = [_together(rows) for rows in found.values()]
    return (
        with_centres(
            together, [Repetitions(row.times_s, step_s=row.step_s) for row in together]
        ),
        drifts,
        problems,
    )


def _together(launches: list[RowSample]) -> Row:
    first = launches[0].row
    failed = [one.row.error for one in launches if one.row.failed]
    if failed:
        error = f"in {len(failed)} of {len(launches)} launches: {failed[0]}"
        return Row(first.name, label=first.label, error=error)
    centres = [one.centre_s for one in launches]
    times_s = np.array([centre for centre in centres if centre is not None])
    return Row(
        first.name,
        times_s,
        label=first.label,
        expected=len(launches),
        step_s=max(one.row.step_s for one in launches),
    )
