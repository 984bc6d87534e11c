"""Colours of the ways of writing, in every picture; they differ in lightness too, for colour-blind readers."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.crossover.map import Way

# From Paul Tol's "bright" scheme, which stays distinct with colour blindness.
WAYS = {Way.SEPARATE: "#4477aa", Way.GATHER: "#228833", Way.COALESCE: "#ccbb44"}

UNDECIDED = "#dddddd"
"""The colour of an undecided cell."""


_STRONGEST = 0.5
"""The saved share of the time that gives a colour its full strength."""


def mix(colours: Sequence[str]) -> str:
    """Return the mean of colours."""
    parts = [[int(c[i : i + 2], 16) for c in colours] for i in (1, 3, 5)]
    return "#" + "".join(f"{round(sum(part) / len(part)):02x}" for part in parts)


def tint(colour: str, strength: float, paper: str = "#ffffff") -> str:
    """Mix `colour` with the paper: from 0 (the paper) to 1 (the colour itself), as #rrggbb."""
    pairs = [(int(paper[i : i + 2], 16), int(colour[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(p + (c - p) * strength):02x}" for p, c in pairs)


def strength_of(saved: float) -> float:
    """Return the strength of a cell's colour; it grows with the saved share of the time."""
    return 0.25 + 0.55 * min(1.0, saved / _STRONGEST)


def shade_of(saved: float, shades: int) -> int:
    """Return the shade of a cell's colour, from 1 to `shades`."""
    return 1 + min(int(saved / _STRONGEST * shades), shades - 1)


def strength_of_shade(shade: int, shades: int) -> float:
    """Return the strength of a shade's colour."""
    return strength_of(_STRONGEST * shade / shades)


def text_on(colour: str) -> str:
    """Return black or white, whichever contrasts more with `colour` (relative luminance of WCAG 2)."""
    linear = []
    for i in (1, 3, 5):
        value = int(colour[i : i + 2], 16) / 255
        linear.append(
            value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        )
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"
