"""Puts a map's cells into letters and signs, the same in every picture of it."""

from __future__ import annotations

from gatherstats.crossover.map import Cell, Maps, Way
from gatherstats.stats.verdict_words import percent
from gatherstats.text.safe import printable

LETTERS = {Way.SEPARATE: "S", Way.GATHER: "G", Way.COALESCE: "C"}
"""A way's letter in a cell."""

NOT_MEASURED = "."

_NAMES = {
    Way.SEPARATE: "separate",
    Way.GATHER: "gather",
    Way.COALESCE: "copy, then write once",
}


def cell_text(cell: Cell | None) -> str:
    """Format the best ways' letters, and the share of the next best way's time that they save.

    Between letters, and alone if it holds for all ways: = is "the same", ~ is "undecided".
    """
    if cell is None:
        return NOT_MEASURED
    joint = "=" if cell.is_same else "~"
    if cell.saved is None:
        return joint
    return f"{joint.join(LETTERS[way] for way in cell.best)} {saved_text(cell.saved)}"


def saved_text(saved: float) -> str:
    """Format a share of the time as whole per cent; "<1%" for less."""
    return f"{saved * 100:.0f}%" if saved >= 0.01 else "<1%"


def legend(maps: Maps, threshold: float) -> str:
    """Explain the letters and signs."""
    ways = {
        way: {m.strategies[way] for m in maps.maps if way in m.strategies}
        for way in Way
    }
    names = [
        f"{LETTERS[way]} {_NAMES[way]} ({printable('/'.join(sorted(found)))})"
        for way, found in ways.items()
        if found
    ]
    return (
        f"{', '.join(names)}. C 20%: copying takes 20 % less time than the next best way. G~C: these"
        f" cannot be told apart, G=C: they take the same time within {percent(threshold)}, and the"
        " per cent are against the third; alone ~ or = for all. .: not measured. Verdicts: rank test,"
        " p corrected by Benjamini and Hochberg over each map."
    )
