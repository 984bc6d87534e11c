"""The report's tables, for screen readers too: captions, and headers with a scope."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.blog.cells import Table
from gatherstats.crossover.advice_words import size_text
from gatherstats.crossover.cells import LETTERS, NOT_MEASURED, cell_text, saved_text
from gatherstats.crossover.colours import shade_of
from gatherstats.crossover.map import Cell, Map, Way
from gatherstats.data.names import shorten
from gatherstats.data.rows import PHASES, Row, device_share, phases, shown_phases
from gatherstats.drawing.markup import Markup, element, join
from gatherstats.report.plots import PERCENTILES, latencies_of
from gatherstats.stats.medians import medians
from gatherstats.text.units import time_text

MOST_LATENCIES = 200
"""Most rows in a table of latencies."""

STRENGTHS = 4
"""Shades of a way's colour in a map."""


def data_table(
    caption: str, headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> Markup:
    """Make a table whose first column names its rows; the first `left` columns are text."""
    head = [
        element("th", header, scope="col", class_="text" if i < left else None)
        for i, header in enumerate(headers)
    ]
    body = [
        element("tr", element("th", row[0], scope="row"), *_cells(row, left))
        for row in rows
    ]
    return scrolling(
        element(
            "table",
            _caption(caption),
            element("thead", element("tr", *head)),
            element("tbody", join(body, "\n")),
        ),
        caption,
    )


def scrolling(table: Markup, name: str) -> Markup:
    """Let a table that is too wide scroll by itself, with the keyboard too."""
    return element(
        "div", table, class_="scroll", tabindex=0, role="region", aria_label=name
    )


def group_table(cells: Table, caption: str) -> Markup:
    """Make the table of a group; empty columns are left out."""
    kept = [
        c
        for c in range(len(cells.headers))
        if c < cells.left or any(row[c] for row in cells.rows)
    ]
    headers = [cells.headers[c] for c in kept]
    return data_table(
        caption, headers, [[row[c] for c in kept] for row in cells.rows], cells.left
    )


def facts(pairs: Sequence[tuple[str, str]], caption: str) -> Markup:
    """Make a list of headings and texts."""
    rows = [
        element("tr", element("th", heading, scope="row"), element("td", text))
        for heading, text in pairs
    ]
    return element(
        "table",
        _caption(caption),
        element("tbody", join(rows)),
        class_="facts",
    )


def map_table(crossover: Map) -> Markup:
    """Make a crossover map: a row for each size, a column for each count."""
    caption = crossover.title
    counts = crossover.counts
    head = element(
        "tr",
        element("th", "buffers", scope="col"),
        *(element("th", str(count), scope="col") for count in counts),
    )
    body = [
        element(
            "tr",
            element("th", size_text(size).replace("bytes", "B"), scope="row"),
            *(_map_cell(crossover.cells.get((size, count))) for count in counts),
        )
        for size in crossover.sizes
    ]
    table = element(
        "table",
        _caption(caption),
        element("thead", head),
        element("tbody", join(body, "\n")),
        class_="map",
    )
    return scrolling(table, caption)


def style_of(ways: Sequence[Way], strength: int) -> str:
    """Return the class of a map's cell with these best ways; strength from 1 to STRENGTHS."""
    return "w" + "".join(LETTERS[way] for way in ways).lower() + str(strength)


def rows_table(rows: Sequence[Row], caption: str) -> Markup:
    """Make the table of all rows with their medians, in few bytes: there may be ten thousand."""
    shared, names = shorten([row.name for row in rows])
    worth = shown_phases(rows)
    repeated = [i for i, row in enumerate(rows) if row.has_repetitions]
    found = dict(zip(repeated, medians([rows[i].times_s for i in repeated])))
    cells = [
        (name, *_row_cells(row, found.get(i), worth))
        for i, (row, name) in enumerate(zip(rows, names))
    ]
    if shared:
        caption = f"{caption}; all have {shared}"
    headers = ["Row", "Median", "n", "Calls", "In the kernel"]
    headers += [*(phase.capitalize() for phase in PHASES), "On the device"]
    kept = [c for c in range(len(headers)) if c < 5 or any(row[c] for row in cells)]
    return data_table(
        caption, [headers[c] for c in kept], [[row[c] for c in kept] for row in cells]
    )


def latency_table(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Make the table of each row's percentiles: medians of its repetitions' percentiles."""
    cells = []
    for row, name in list(zip(rows, names))[:MOST_LATENCIES]:
        known = latencies_of(row)
        operations = row.counter("latency_ops")
        texts = [time_text(known.get(percentile)) for percentile in PERCENTILES]
        cells.append((name, *texts, "" if operations is None else f"{operations:.0f}"))
    caption = "Latency of single operations"
    return data_table(caption, ["Row", *PERCENTILES, "Operations"], cells)


def _caption(text: str) -> Markup:
    """Make a caption that stays visible and whole if its table is wider than the screen."""
    return element("caption", element("span", text))


def _cells(row: Sequence[str], left: int) -> list[Markup]:
    return [
        element("td", cell, class_="text" if i < left else None)
        for i, cell in enumerate(row[1:], 1)
    ]


def _row_cells(
    row: Row, median_s: float | None, worth: Sequence[str]
) -> tuple[str, ...]:
    calls, kernel = row.counter("calls"), row.counter("kernel_calls")
    counts = tuple("" if v is None else f"{v:g}" for v in (calls, kernel))
    parts = phases(row)
    share = device_share(row)
    counts += tuple(time_text(parts.get(p)) if p in worth else "" for p in PHASES)
    counts += ("" if share is None else f"{share:.2f}",)
    if row.failed:
        return ("failed", *([""] * (1 + len(counts))))
    if median_s is not None:
        return (time_text(median_s), str(row.times_s.size), *counts)
    known = row.aggregates
    median = None if known is None else known.median_s or known.mean_s
    n = None if known is None else known.n
    return (time_text(median), "" if n is None else str(n), *counts)


def _map_cell(cell: Cell | None) -> Markup:
    if cell is None:
        return element("td", NOT_MEASURED, title="not measured")
    if cell.saved is None:
        words = "all take the same time" if cell.is_same else "too small to tell"
        return element("td", cell_text(cell), class_="tie", title=words)
    letters = cell_text(cell).partition(" ")[0]
    strength = shade_of(cell.saved, STRENGTHS)
    best = " or ".join(way.value for way in cell.best)
    return element(
        "td",
        letters,
        element("br"),
        saved_text(cell.saved),
        class_=style_of(cell.best, strength),
        title=f"{best}: {saved_text(cell.saved)} less time than {cell.next_best.value}",
    )
