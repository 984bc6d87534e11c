"""Lays out a table in GitHub's Markdown whose columns also line up in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.text import width


def render(
    headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> list[str]:
    """The table's lines. The first `left` columns are aligned left, numbers to the right.

    Columns in which no row has anything are left out. Cells must be safe already.
    """
    kept = [c for c in range(len(headers)) if c < left or any(row[c] for row in rows)]
    cells = [[row[c] for c in kept] for row in [list(headers), *rows]]
    widths = [max(3, *(width(row[i]) for row in cells)) for i in range(len(kept))]
    rule = [
        "-" * widths[i] if c < left else "-" * (widths[i] - 1) + ":"
        for i, c in enumerate(kept)
    ]
    padded = [
        [_pad(cell, widths[i], kept[i] < left) for i, cell in enumerate(row)]
        for row in cells
    ]
    return ["| " + " | ".join(row) + " |" for row in [padded[0], rule, *padded[1:]]]


def _pad(cell: str, columns: int, to_the_left: bool) -> str:
    space = " " * (columns - width(cell))
    return cell + space if to_the_left else space + cell
