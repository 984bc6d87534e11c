"""Shows crossover maps to people, as a grid for a terminal, and to programs, as a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass

from gatherstats.crossover.advice import Advice, advise
from gatherstats.crossover.advice_words import advice_text, worth_text
from gatherstats.crossover.map import Cell, Map, Maps, Way
from gatherstats.data.environment import describe, describe_briefly
from gatherstats.data.rows import Run
from gatherstats.stats.verdict import THRESHOLD
from gatherstats.stats.verdict_words import percent
from gatherstats.text.safe import printable, width
from gatherstats.text.strict_json import dumps
from gatherstats.text.wrapped import COLUMNS, wrapped

FORMAT = "gatherbench-crossover"
VERSION = 1

LETTERS = {Way.SEPARATE: "S", Way.GATHER: "G", Way.COPY: "C"}
"""What stands for a way in a cell."""

NOT_MEASURED = "."

_NAMES = {
    Way.SEPARATE: "separate",
    Way.GATHER: "gather",
    Way.COPY: "copy, then write once",
}

# Black on a light background can be read in any colour scheme of a terminal.
_COLOURS = {Way.SEPARATE: "30;46", Way.GATHER: "30;42", Way.COPY: "30;43"}
_DIM = "2"


@dataclass(frozen=True)
class MapsWithAdvice:
    """A run's maps, each with its advice."""

    run: Run
    maps: Maps
    advice: list[Advice]


def prepare(run: Run, maps: Maps) -> MapsWithAdvice:
    """Derive the advice of each map."""
    return MapsWithAdvice(run, maps, [advise(one) for one in maps.maps])


def cell_text(cell: Cell | None) -> str:
    """The best ways' letters, and how much of the next best way's time they save.

    Between letters, and alone where it holds for all ways: = for the same, ~ for what cannot be
    told apart.
    """
    if cell is None:
        return NOT_MEASURED
    joint = "=" if cell.is_same else "~"
    if cell.saved is None:
        return joint
    return f"{joint.join(LETTERS[way] for way in cell.best)} {saved_text(cell.saved)}"


def saved_text(saved: float) -> str:
    """A share of the time as whole per cent, "<1%" for what is less."""
    return f"{saved * 100:.0f}%" if saved >= 0.01 else "<1%"


def terminal(
    shown: MapsWithAdvice, threshold: float = THRESHOLD, colour: bool = False
) -> list[str]:
    """The maps with what stands above and below them; at most COLUMNS wide."""
    lines = [printable(shown.run.path)]
    for heading, text in describe_briefly(shown.run):
        lines += wrapped(f"{heading}: {text}", "    ", "      ")
    for one, advice in zip(shown.maps.maps, shown.advice):
        lines += ["", *wrapped(printable(one.title)), ""]
        lines += [*_grid(one, colour), ""]
        lines += wrapped(advice_text(advice, one, shown.run))
        lines += wrapped(worth_text(advice))
        if one.missing:
            lines += wrapped("Missing: " + printable("; ".join(one.missing)) + ".")
    return (
        lines + ["", *wrapped(legend(shown.maps, threshold))]
        if shown.maps.maps
        else lines
    )


def legend(maps: Maps, threshold: float) -> str:
    """What the letters and signs mean."""
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


def as_json(shown: list[MapsWithAdvice]) -> str:
    """All maps' advice and cells, in one line of strict JSON. Keys are only ever added."""
    runs = [
        {
            "path": one.run.path,
            "environment": dict(describe(one.run)),
            "maps": [
                _map_json(crossover, advice, one.run)
                for crossover, advice in zip(one.maps.maps, one.advice)
            ],
            "problems": one.maps.problems,
        }
        for one in shown
    ]
    return dumps({"format": FORMAT, "version": VERSION, "runs": runs})


def _map_json(crossover: Map, advice: Advice, run: Run) -> dict[str, object]:
    return {
        "title": crossover.title,
        "keys": {"scope": crossover.scope, **crossover.keys},
        "strategies": {way.value: s for way, s in crossover.strategies.items()},
        "advice": {
            "text": advice_text(advice, crossover, run),
            "cases": [
                {
                    "count_from": case.fewest,
                    "count_to": case.most,
                    "size_above": case.above,
                    "size_up_to": case.up_to,
                    "way": case.way.value,
                    "strategy": crossover.strategies[case.way],
                    "clear": case.clear,
                }
                for case in advice.cases
            ],
            "small_from": advice.small_from,
            "mean_loss": advice.mean_loss,
            "worst_loss": advice.worst_loss,
        },
        "cells": [
            {
                "count": cell.count,
                "size": cell.size,
                "best": [way.value for way in cell.best],
                "same": cell.is_same,
                "saved": cell.saved,
            }
            for cell in crossover.cells.values()
        ],
        "missing": crossover.missing,
    }


def _grid(crossover: Map, colour: bool) -> list[str]:
    """The map's lines; with too many counts for one block, several blocks one below another."""
    sizes, counts = crossover.sizes, crossover.counts
    corner = "bytes"
    left = max(len(corner), *(len(size) for size in sizes))
    texts = {key: cell_text(cell) for key, cell in crossover.cells.items()}
    columns = (
        max(*(width(t) for t in texts.values()), *(len(str(c)) for c in counts)) + 2
    )
    fitting = max(1, (COLUMNS - left - 1) // columns)
    lines = []
    for start in range(0, len(counts), fitting):
        block = counts[start : start + fitting]
        lines += [""] * bool(lines)
        head = "".join(str(count).center(columns) for count in block)
        lines.append(
            f"{corner:>{left}} {head}".rstrip()
            + ("  buffers" if _has_room(left, columns, block) else "")
        )
        for size in sizes:
            cells = [crossover.cells.get((size, count)) for count in block]
            parts = [_painted(cell, columns, colour) for cell in cells]
            lines.append(f"{size:>{left}} {''.join(parts)}".rstrip())
    return lines


def _has_room(left: int, columns: int, block: list[int]) -> bool:
    return left + 1 + columns * len(block) + len("  buffers") <= COLUMNS


def _painted(cell: Cell | None, columns: int, colour: bool) -> str:
    text = cell_text(cell).center(columns)
    if not colour:
        return text
    if cell is None or cell.saved is None:
        return f"\x1b[{_DIM}m{text}\x1b[0m"
    return f"\x1b[{_COLOURS[cell.leader]}m{text}\x1b[0m"
