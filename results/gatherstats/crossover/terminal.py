"""Shows crossover maps as a grid for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.crossover.advice import MapsWithAdvice
from gatherstats.crossover.advice_words import advice_text, worth_text
from gatherstats.crossover.cells import cell_text, legend
from gatherstats.crossover.map import Cell, Map, Way
from gatherstats.crossover.saving import Case
from gatherstats.crossover.saving_words import (
    advice_lines,
    create_table,
    replacing_table,
    title_of,
)
from gatherstats.data.environment import describe_briefly
from gatherstats.data.rows import Run
from gatherstats.stats.verdict import THRESHOLD
from gatherstats.text.safe import printable, width
from gatherstats.text.table import render_plain
from gatherstats.text.wrapped import COLUMNS, items, wrapped

# Black on a light background is legible in any colour scheme of a terminal.
_COLOURS = {Way.SEPARATE: "30;46", Way.GATHER: "30;42", Way.COALESCE: "30;43"}
_DIM = "2"


def terminal(
    shown: MapsWithAdvice, threshold: float = THRESHOLD, colour: bool = False
) -> list[str]:
    """Lay out a run's maps, with heading, advice and legend; at most COLUMNS wide."""
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


def saving_terminal(run: Run, cases: Sequence[Case]) -> list[str]:
    """Lay out the ways of saving a file, their times, and the advice."""
    lines = [printable(run.path)]
    for heading, text in describe_briefly(run):
        lines += wrapped(f"{heading}: {text}", "    ", "      ")
    for sync in dict.fromkeys(case.sync for case in cases):
        some = [case for case in cases if case.sync == sync]
        lines += ["", f"{title_of(sync)}; separate writes/gathered, medians:", ""]
        lines += render_plain(*create_table(some))
        for case in some:
            headers, rows = replacing_table(case, run)
            if rows:
                lines += ["", *render_plain(headers, rows, left=2)]
        lines += ["", *items(advice_lines(some, run))]
    return lines


def _grid(crossover: Map, colour: bool) -> list[str]:
    """Lay out a map; too many counts for one block go into several blocks, one below another."""
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
