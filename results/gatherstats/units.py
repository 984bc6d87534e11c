"""Turns seconds and bytes per second into numbers with one unit for a whole column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

SECONDS_PER_UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Google Benchmark's time_unit values."""

_RATES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@dataclass(frozen=True)
class Unit:
    """A unit's name and its size in the base unit (seconds, or bytes per second)."""

    name: str
    size: float

    def text(self, value: float) -> str:
        """`value`, given in the base unit, as a number in this unit with about four digits."""
        return significant(value / self.size)


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
    if not math.isfinite(number):
        return "NA"
    if number == 0:
        return "0"
    before_point = math.floor(math.log10(abs(number))) + 1
    return f"{number:.{min(max(digits - before_point, 0), 3)}f}"


def _largest(values: Iterable[float], sizes: dict[str, float]) -> Unit:
    positive = [value for value in values if math.isfinite(value) and value > 0]
    units = [Unit(name, size) for name, size in sizes.items()]
    if not positive:
        return units[0]
    smallest = min(positive)
    # A hair below one counts as one: 1000 ns read from a file as 9.999999e-7 s is 1 us.
    fitting = [unit for unit in units if smallest >= unit.size * (1 - 1e-9)]
    return fitting[-1] if fitting else units[0]
