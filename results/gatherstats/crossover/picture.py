"""Draws crossover maps with matplotlib, as SVG or PNG."""

from __future__ import annotations

import io
import logging
import textwrap
import warnings
from collections.abc import Sequence

# matplotlib logs about fonts and folders; keep that off the user's screen.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

from matplotlib import rc_context  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

from gatherstats.crossover.advice import Advice, MapsWithAdvice  # noqa: E402
from gatherstats.crossover.advice_words import (
    advice_text,
    place,
    size_text,
)  # noqa: E402
from gatherstats.crossover.cells import LETTERS, cell_text  # noqa: E402
from gatherstats.crossover.colours import (  # noqa: E402
    UNDECIDED,
    WAYS,
    mix,
    strength_of,
    text_on,
    tint,
)
from gatherstats.crossover.map import Cell, Map, Way  # noqa: E402
from gatherstats.data.rows import Run  # noqa: E402
from gatherstats.process.atomic_file import write_atomically  # noqa: E402
from gatherstats.text.safe import printable  # noqa: E402

_CELL_WIDTH, _CELL_HEIGHT = 0.78, 0.36
_ABOVE, _BELOW, _LEFT, _RIGHT = 0.85, 0.5, 1.15, 0.25
_NARROWEST = 6.5
"""All in inches."""

_POINTS = 9.0

# The width of a character of that size in inches, about.
_CHARACTER = 0.07

MOST_CELLS = 5_000
"""A picture with more would take minutes and could not be read."""


def draw(shown: Sequence[MapsWithAdvice], path: str, form: str) -> int:
    """Write the maps, one below another, to `path`; form: "svg" or "png".

    Returns how many of the last maps had no room (MOST_CELLS). Raises OSError when the file cannot
    be written.
    """
    maps = [
        (one.run, crossover, advice)
        for one in shown
        for crossover, advice in zip(one.maps.maps, one.advice)
    ]
    kept = _kept(maps)
    write_atomically(path, _picture(kept, form))
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


def _picture(maps: list[tuple[Run, Map, Advice]], form: str) -> bytes:
    widest = max(len(one.counts) for _, one, _ in maps) * _CELL_WIDTH + _LEFT + _RIGHT
    wide = max(widest, _NARROWEST)
    texts = [_advice_lines(*one, wide) for one in maps]
    heights = [
        len(one.sizes) * _CELL_HEIGHT + _ABOVE + _BELOW + 0.17 * len(text)
        for (_, one, _), text in zip(maps, texts)
    ]
    tall = sum(heights)
    figure = Figure(figsize=(wide, tall), facecolor="white")
    top = tall
    for (run, crossover, _), text, height in zip(maps, texts, heights):
        columns, rows = len(crossover.counts), len(crossover.sizes)
        box = [_LEFT, top - _ABOVE - rows * _CELL_HEIGHT]
        size = [columns * _CELL_WIDTH, rows * _CELL_HEIGHT]
        axes = figure.add_axes(
            [box[0] / wide, box[1] / tall, size[0] / wide, size[1] / tall]
        )
        _draw_map(axes, crossover)
        left = 0.15 / wide
        where = place(crossover, run)
        _write(
            figure, left, (top - 0.3) / tall, f"Which way wins on {where}", 11, "bold"
        )
        for i, line in enumerate(text):
            _write(figure, left, (box[1] - 0.32 - 0.17 * i) / tall, line, _POINTS)
        top -= height
    out = io.BytesIO()
    title = "Crossover maps: separate writes, gathering, copying"
    metadata = {"Title": title} | ({"Date": None} if form == "svg" else {})
    with rc_context({"svg.hashsalt": "gatherbench"}), warnings.catch_warnings():
        # A character that the font lacks becomes a box; no warning is needed.
        warnings.simplefilter("ignore")
        figure.savefig(out, format=form, dpi=150, metadata=metadata)
    return out.getvalue()


def _advice_lines(run: Run, crossover: Map, advice: Advice, wide: float) -> list[str]:
    columns = int((wide - 0.3) / _CHARACTER)
    ways = ", ".join(
        f"{LETTERS[way]} {printable(crossover.strategies[way])}"
        for way in Way
        if way in crossover.strategies
    )
    legend = (
        f"{ways}; ~ too small to tell, = the same; %: less time than the next best way."
    )
    advised = textwrap.wrap(advice_text(advice, crossover, run), columns)
    rows = f"Rows: {printable(crossover.title)}."
    return [
        *advised,
        "",
        *textwrap.wrap(legend, columns),
        *textwrap.wrap(rows, columns),
    ]


def _write(
    figure: Figure, x: float, y: float, text: str, points: float, weight: str = "normal"
) -> None:
    figure.text(
        x, y, text, fontsize=points, fontweight=weight, va="baseline", parse_math=False
    )


def _draw_map(axes: Axes, crossover: Map) -> None:
    sizes, counts = crossover.sizes, crossover.counts
    for row, size in enumerate(sizes):
        for column, count in enumerate(counts):
            _draw_cell(axes, column, row, crossover.cells.get((size, count)))
    axes.set_xlim(0, len(counts))
    axes.set_ylim(len(sizes), 0)
    axes.set_xticks([i + 0.5 for i in range(len(counts))], [str(c) for c in counts])
    axes.set_yticks(
        [i + 0.5 for i in range(len(sizes))],
        [size_text(size) for size in sizes],
        parse_math=False,
    )
    axes.xaxis.set_ticks_position("top")
    axes.tick_params(length=0, labelsize=_POINTS)
    axes.set_xlabel("buffers", fontsize=_POINTS, loc="right", labelpad=6)
    axes.xaxis.set_label_position("top")
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_cell(axes: Axes, column: int, row: int, cell: Cell | None) -> None:
    colour = "#ffffff"
    if cell is not None:
        colour = UNDECIDED
        if cell.saved is not None:
            mixed = mix([WAYS[way] for way in cell.best])
            colour = tint(mixed, strength_of(cell.saved))
    axes.add_patch(
        Rectangle(
            (column, row), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5
        )
    )
    axes.text(
        column + 0.5,
        row + 0.52,
        cell_text(cell),
        ha="center",
        va="center",
        fontsize=_POINTS - 0.5,
        color=text_on(colour),
        parse_math=False,
    )
