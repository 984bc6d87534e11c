"""Shows crossover maps as a grid for a terminal."""

from __future__ import annotations

from gatherstats.crossover.advice import MapsWithAdvice
from gatherstats.crossover.advice_words import advice_text, worth_text
from gatherstats.crossover.cells import cell_text, legend
from gatherstats.crossover.map import Cell, Map, Way
from gatherstats.data.environment import describe_briefly
from gatherstats.stats.verdict import THRESHOLD
from gatherstats.text.safe import printable, width
from gatherstats.text.wrapped import COLUMNS, wrapped

# Black on a light background can be read in any colour scheme of a terminal.
_COLOURS = {Way.SEPARATE: "30;46", Way.GATHER: "30;42", Way.COPY: "30;43"}
_DIM = "2"


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
