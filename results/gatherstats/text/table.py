"""Lays out a table, in GitHub's Markdown or for a terminal; the columns line up in both."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.text.safe import width


def render(
    headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> list[str]:
    """The table's lines. The first `left` columns are aligned left, numbers to the right.

    Columns in which no row has anything are left out. Cells must be safe already.
    """
    padded, widths = _aligned(headers, rows, left)
    rule = [
        "-" * columns if i < left else "-" * (columns - 1) + ":"
        for i, columns in enumerate(widths)
    ]
    return ["| " + " | ".join(row) + " |" for row in [padded[0], rule, *padded[1:]]]


def render_plain(
    headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> list[str]:
    """The same for a terminal alone: columns with space between them, under a rule."""
    padded, widths = _aligned(headers, rows, left)
    rule = ["-" * columns for columns in widths]
    return ["  ".join(row).rstrip() for row in [padded[0], rule, *padded[1:]]]


def _aligned(
    headers: Sequence[str], rows: Sequence[Sequence[str]], left: int
) -> tuple[list[list[str]], list[int]]:
    """The cells, headers first, padded to their columns' widths, and these widths."""
    kept = [c for c in range(len(headers)) if c < left or any(row[c] for row in rows)]
    cells = [[row[c] for c in kept] for row in [headers, *rows]]
    widths = [max(3, *(width(row[i]) for row in cells)) for i in range(len(kept))]
    padded = [
        [_pad(cell, widths[i], i < left) for i, cell in enumerate(row)] for row in cells
    ]
    return padded, widths


def _pad(cell: str, columns: int, to_the_left: bool) -> str:
    space = " " * (columns - width(cell))
    return cell + space if to_the_left else space + cell
