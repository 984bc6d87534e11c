"""Draws crossover maps as SVG, and as PNG by cairosvg."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from gatherstats.crossover.advice import Advice, MapsWithAdvice
from gatherstats.crossover.advice_words import advice_text, place, size_text
from gatherstats.crossover.cells import LETTERS, cell_text
from gatherstats.crossover.colours import (
    UNDECIDED,
    WAYS,
    mix,
    strength_of,
    text_on,
    tint,
)
from gatherstats.crossover.map import Cell, Map, Way
from gatherstats.data.rows import Run
from gatherstats.drawing import svg
from gatherstats.drawing.markup import Markup
from gatherstats.process.atomic_file import write_atomically
from gatherstats.text.safe import printable

_CELL_WIDTH, _CELL_HEIGHT, _LEFT = 62.0, 24.0, 90.0
_NARROWEST = 540.0
_BETWEEN = 30.0
"""All in the units of drawing.svg; the last is the space between two maps."""

_PNG_SCALE = 2.0
"""Pixels for each pixel that the SVG asks for."""

MOST_CELLS = 5_000
"""A picture with more would take minutes and could not be read."""


def draw(shown: Sequence[MapsWithAdvice], path: str, form: str) -> int:
    """Write the maps, one below another, to `path`; form: "svg" or "png".

    Returns the number of maps, from the end, without room (MOST_CELLS). Raises OSError when the
    file cannot be written.
    """
    maps = [
        (one.run, crossover, advice)
        for one in shown
        for crossover, advice in zip(one.maps.maps, one.advice)
    ]
    kept = _kept(maps)
    picture = _picture(kept)
    if form == "svg":
        data = svg.alone(picture).encode()
    else:
        # Here, because only PNG needs the package.
        from cairosvg import svg2png

        light = svg.alone(picture, svg.light_rules())
        data = svg2png(bytestring=light.encode(), scale=_PNG_SCALE)
    write_atomically(path, data)
    return len(maps) - len(kept)


def _kept(maps: list[tuple[Run, Map, Advice]]) -> list[tuple[Run, Map, Advice]]:
    """As many of the first maps as fit into one picture, at least one."""
    kept, cells = [], 0
    for one in maps:
        cells += len(one[1].sizes) * len(one[1].counts)
        if kept and cells > MOST_CELLS:
            break
        kept.append(one)
    return kept


def _picture(maps: list[tuple[Run, Map, Advice]]) -> Markup:
    most = max(len(crossover.counts) for _, crossover, _ in maps)
    wide = max(_LEFT + most * _CELL_WIDTH, _NARROWEST)
    shapes: list[Markup] = []
    y = 0.0
    for run, crossover, advice in maps:
        y += _BETWEEN if y else 12
        heading = f"Which way wins on {place(crossover, run)}"
        shapes.append(svg.text(0, y, heading, style="label"))
        grid, y = _grid(crossover, y + 8)
        shapes += grid
        for line in _lines_below(run, crossover, advice, wide):
            y += svg.LINE
            shapes.append(svg.text(0, y, line))
    title = "Crossover maps: separate writes, gathering, copying"
    return svg.frame(title, y, shapes, "map", wide)


def _lines_below(run: Run, crossover: Map, advice: Advice, wide: float) -> list[str]:
    columns = int(wide / svg.CHARACTER)
    ways = ", ".join(
        f"{LETTERS[way]} {printable(crossover.strategies[way])}"
        for way in Way
        if way in crossover.strategies
    )
    legend = (
        f"{ways}; ~ too small to tell, = the same; %: less time than the next best way."
    )
    return [
        "",
        *textwrap.wrap(advice_text(advice, crossover, run), columns),
        "",
        *textwrap.wrap(legend, columns),
        *textwrap.wrap(f"Rows: {printable(crossover.title)}.", columns),
    ]


def _grid(crossover: Map, y: float) -> tuple[list[Markup], float]:
    """Draw a map's cells below y, with the counts above and the sizes to the left; returns the end too."""
    y += svg.LINE
    shapes = [svg.text(_LEFT - 8, y, "buffers", "end")]
    for column, count in enumerate(crossover.counts):
        middle = _LEFT + (column + 0.5) * _CELL_WIDTH
        shapes.append(svg.text(middle, y, str(count), "middle"))
    y += 6
    for size in crossover.sizes:
        words = svg.fitting(size_text(size), _LEFT)
        shapes.append(svg.text(_LEFT - 8, y + 16, words, "end"))
        for column, count in enumerate(crossover.counts):
            cell = crossover.cells.get((size, count))
            shapes += _cell(cell, _LEFT + column * _CELL_WIDTH, y)
        y += _CELL_HEIGHT
    return shapes, y


def _cell(cell: Cell | None, x: float, y: float) -> list[Markup]:
    middle = x + _CELL_WIDTH / 2
    if cell is None:
        return [svg.text(middle, y + 16, cell_text(cell), "middle")]
    colour = UNDECIDED
    if cell.saved is not None:
        colour = tint(mix([WAYS[way] for way in cell.best]), strength_of(cell.saved))
    box = (x + 1, y + 1, _CELL_WIDTH - 2, _CELL_HEIGHT - 2)
    ink = "dark" if text_on(colour) == "#000000" else "light"
    return [
        svg.rectangle(*box, fill=colour),
        svg.text(middle, y + 16, cell_text(cell), "middle", f"on-colour {ink}"),
    ]
