"""Compares buffers of whole pages with slightly shorter ones, in the same file."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.blog.cells import Safe
from gatherstats.data.names import whole_number
from gatherstats.data.rows import Run
from gatherstats.stats.samples import RowSample
from gatherstats.stats.verdict import judge
from gatherstats.stats.verdict_words import short

NEAR = 1.1
"""The largest ratio of the two lengths: beyond it the size itself would matter."""

_USUAL_PAGE = 4096


def whole_page_lines(
    run: Run, measured: Sequence[RowSample], threshold: float, safe: Safe
) -> list[str]:
    """Compare each row of a file whose buffers end within a page with whole pages, a line each.

    measured: all rows of the run, with drift removed.
    """
    page = whole_number(run.setting("page_bytes") or "") or _USUAL_PAGE
    groups: dict[tuple, list[tuple[int, RowSample]]] = {}
    for one in measured:
        size = whole_number(one.row.name.keys.get("size", ""))
        if one.row.name.scope == "file" and size and one.sample is not None:
            groups.setdefault(one.row.name.without("size"), []).append((size, one))
    pairs = []
    for members in groups.values():
        whole = sorted((s for s in members if s[0] % page == 0), key=lambda s: s[0])
        for size, one in members:
            near = (
                [w for w in whole if size < w[0] <= NEAR * size] if size % page else []
            )
            pairs += [(size, one, near[0][0], near[0][1])] if near else []
    verdicts = judge(
        [(one.sample, other.sample) for _, one, _, other in pairs], threshold
    )
    return [
        f"{safe(_method(one))} {other_size} in place of {size} bytes: {short(verdict, threshold)}"
        for (size, one, other_size, _), verdict in zip(pairs, verdicts)
    ]


def _method(one: RowSample) -> str:
    keys = one.row.name.keys
    count = keys.get("count", "1")
    return keys["strategy"] + ("" if count == "1" else f" {count} x")
