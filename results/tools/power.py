#!/usr/bin/env python3
"""Measures how often the comparison finds a true difference, and a false one.

power.py [RUN.json ...]     (without a file: the recorded runs in test/files)

Stretches of 200 repetitions of a run's first row are dealt out into two samples of 100, one of which
is then multiplied by a known factor; the run's other rows help to find the drift, as they do in a
comparison. If the first row has fewer, all repetitions count as one row's, each divided by its row's
median. The comparison of this project, a U test as in Google's compare.py (also of the times without drift)
and Welch's test see the very same repetitions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(RESULTS), str(RESULTS / "test" / "support")]

from gatherstats.cli.inputs import load_all  # noqa: E402
from gatherstats.errors import UserError  # noqa: E402
from gatherstats.process.output import complain, run_main  # noqa: E402
from gatherstats.stats.resampling import (  # noqa: E402
    draw_as_measured,
    share,
    verdicts,
    without_drift,
)
from gatherstats.data.rows import Run  # noqa: E402
from gatherstats.text.table import render  # noqa: E402
from gatherstats.stats.verdict import ALPHA, THRESHOLD, Outcome  # noqa: E402
from recorded import (  # noqa: E402
    RECORDED,
    as_one,
    found_by_plain_tests,
    found_slower,
)

PROGRAM = Path(__file__).name
SAMPLE = 100
DRAWS = 600
SLOWDOWNS = (0.01, 0.02, 0.05)


def main(files: list[str]) -> int:
    """Print a line for each run and return the exit status, 2 for a run that tells nothing."""
    try:
        cells = [_cells(run) for run in load_all(files or [str(p) for p in RECORDED])]
    except UserError as error:
        return complain(PROGRAM, str(error))
    differences = [f"{100 * slowdown:.0f} % slower" for slowdown in SLOWDOWNS]
    headers = [
        f"Found in 100 by us / U / U without drift / Welch, n = {SAMPLE}",
        "equal",
        *differences,
    ]
    print("\n".join(render(headers, cells, 1)))
    return 0


def _cells(run: Run) -> list[str]:
    rows = [row for row in run.rows if not row.failed and row.start_s is not None]
    if rows and rows[0].times_s.size < 2 * SAMPLE:
        rows = [as_one(rows)]
    if not rows or rows[0].times_s.size < 2 * SAMPLE:
        few = f"fewer than {2 * SAMPLE} repetitions with their starting times"
        raise UserError(f"{run.path}: {few}")
    rng = np.random.default_rng(1)
    drawn = [draw_as_measured(rows, 0, 0, SAMPLE, rng) for _ in range(DRAWS)]
    draws = [without_drift(one) for one in drawn]
    equal = share(verdicts(draws, THRESHOLD), Outcome.FASTER, Outcome.SLOWER)
    ours = [equal, *(found_slower(draws, slowdown) for slowdown in SLOWDOWNS)]
    theirs = [found_by_plain_tests(drawn, s, ALPHA) for s in (0.0, *SLOWDOWNS)]
    return [
        Path(run.path).name,
        *(
            " / ".join(f"{100 * found:.1f}" for found in (own, *plain))
            for own, plain in zip(ours, theirs)
        ),
    ]


if __name__ == "__main__":
    sys.exit(run_main(PROGRAM, lambda: main(sys.argv[1:])))
