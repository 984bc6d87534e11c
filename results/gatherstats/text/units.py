"""Turns seconds and bytes per second into numbers with one unit for a whole column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SECONDS_PER_UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Google Benchmark's time_unit values."""

_RATES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@dataclass(frozen=True)
class Unit:
    """A unit's name and its size in the base unit (seconds, or bytes per second)."""

    name: str
    size: float

    def places(self, values: Iterable[float | None]) -> int:
        """Count the decimals that give the smallest of `values` four digits in this unit."""
        return max(
            (decimals(value / self.size) for value in values if value), default=0
        )

    def column(
        self, values: Sequence[float | None], places: int | None = None
    ) -> list[str]:
        """Format `values`, given in the base unit, as numbers in this unit; "" for None.

        decimals: of all values; None for as many as the smallest value needs.
        """
        numbers = [None if value is None else value / self.size for value in values]
        if places is None:
            places = self.places(values)
        return ["" if number is None else f"{number:.{places}f}" for number in numbers]


def time_text(time_s: float | None) -> str:
    """One time with its unit, such as "12.34 us"; "" for None."""
    if time_s is None:
        return ""
    unit = time_unit([time_s])
    return f"{significant(time_s / unit.size)} {unit.name}"


def time_unit(values_s: Iterable[float]) -> Unit:
    """The unit for a column of times in seconds: the largest in which the smallest is >= 1."""
    return _largest(values_s, SECONDS_PER_UNIT)


def rate_unit(values: Iterable[float]) -> Unit:
    """The unit for a column of bytes per second: the largest in which the smallest is >= 1."""
    return _largest(values, _RATES)


def significant(number: float, digits: int = 4) -> str:
    """`number` with about `digits` significant digits, at most three decimals, no exponent.

    More than three decimals would pretend to a precision that the published tables do not have.
    """
    return f"{number:.{decimals(number, digits)}f}" if math.isfinite(number) else "NA"


def ratio_text(ratio: float) -> str:
    """A ratio with four significant digits at most; three where it is far from 1."""
    return ratio_texts(ratio)[0]


def ratio_texts(*ratios: float) -> list[str]:
    """Ratios that stand together, such as the ends of an interval: all in one notation."""
    if any(1e6 <= ratio < math.inf for ratio in ratios):
        return [f"{ratio:.2e}" if math.isfinite(ratio) else "NA" for ratio in ratios]
    return [
        f"{ratio:.{2 - math.floor(math.log10(ratio))}f}"
        if 1e-9 < ratio < 0.1
        else significant(ratio)
        for ratio in ratios
    ]


def decimals(number: float, digits: int = 4) -> int:
    """How many decimals (0 to 3) give `number` `digits` significant digits."""
    if number == 0 or not math.isfinite(number):
        return 0
    before_point = math.floor(math.log10(abs(number))) + 1
    return min(max(digits - before_point, 0), 3)


def _largest(values: Iterable[float], sizes: dict[str, float]) -> Unit:
    positive = [value for value in values if math.isfinite(value) and value > 0]
    units = [Unit(name, size) for name, size in sizes.items()]
    if not positive:
        return units[0]
    smallest = min(positive)
    # A hair below one counts as one: 1000 ns read from a file as 9.999999e-7 s is 1 us.
    fitting = [unit for unit in units if smallest >= unit.size * (1 - 1e-9)]
    return fitting[-1] if fitting else units[0]
