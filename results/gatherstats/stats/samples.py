"""Makes rows ready to be compared: their repetitions without drift, or their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gatherstats.data.rows import Aggregates, Row
from gatherstats.stats.drift import Drift, remove_drift
from gatherstats.stats.medians import medians
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.verdict import Sample


@dataclass(frozen=True)
class RowSample:
    """A row and what of it is compared.

    sample: None for a row that failed.
    centre_s: what a ratio is made of, in seconds: the median, or a summary's mean or median.
    """

    row: Row
    sample: Sample | None
    centre_s: float | None

    @property
    def n(self) -> int | None:
        """How many values the sample has, None where that is not known."""
        if isinstance(self.sample, Repetitions):
            return self.sample.size
        return self.sample.n if self.sample else None


def measure(rows: Sequence[Row]) -> tuple[list[RowSample], Drift | None]:
    """The rows of one run in their order, and how much drift was taken out."""
    clean, drift = remove_drift(rows)
    return with_centres(rows, clean), drift


def with_centres(
    rows: Sequence[Row], repetitions: Sequence[Repetitions]
) -> list[RowSample]:
    """The rows with these repetitions, none of which need be their own."""
    repeated = [
        i for i, row in enumerate(rows) if repetitions[i].size and not row.failed
    ]
    centres = dict(zip(repeated, medians([repetitions[i].times_s for i in repeated])))
    for i in repeated:
        if repetitions[i].weights is not None:
            centres[i] = repetitions[i].median_s
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
