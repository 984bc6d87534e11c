"""Decides which rows of a file stand in one table, what each is called there, and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gatherstats.names import RowName
from gatherstats.rows import Row

BLOG_METHODS = {
    "pwrite": "Write",
    "pwritev": "WriteGather",
    "fallback": "WriteGather without pwritev",
    "contiguous": "One contiguous write",
}
"""The strategies of the blog's workload, by the names that the published tables use."""

_BLOG_WORKLOAD = {
    "sync": "none",
    "file_bytes": "100000000",
    "count": "4",
    "size": "16000",
}

_BASELINE_STRATEGIES = ("pwrite", "write")

# Keys along which rows are compared, the most interesting first. Rows that differ in another known
# key do a different amount of work: they may share a table, but a verdict would mean nothing.
_COMPARED_KEYS = (
    "strategy",
    "preallocate",
    "direct",
    "sync_each",
    "sync",
    "target",
    "threads",
)
_WORK_KEYS = ("count", "size", "window", "file_bytes")


@dataclass(frozen=True)
class Group:
    """The rows of one table.

    title: what all its rows have in common.
    labels: what each row is called in it.
    baseline: the index of the row that the others are compared with; None for no comparison.
    """

    title: str
    rows: list[Row]
    labels: list[str]
    baseline: int | None

    @property
    def others(self) -> list[int]:
        """The indices of the rows that are compared with the baseline."""
        return [
            i
            for i in range(len(self.rows))
            if i != self.baseline and self.baseline is not None
        ]


def group_rows(rows: Sequence[Row]) -> list[Group]:
    """Sort a file's rows into tables.

    Rows that differ in their strategy alone are a table; a row that has no such partner is put
    beside those that differ from it in one other key. What is left then stands in a last table
    without a baseline. Rows of other suites are one table, with their first row as the baseline.
    """
    ours = [row for row in rows if row.name.is_ours]
    foreign = [row for row in rows if not row.name.is_ours]
    groups: list[Group] = []
    placed: set[str] = set()
    for key in _keys_to_try(ours):
        for members in _differing_only_in(key, ours):
            if len(members) >= 2 and any(m.name.text not in placed for m in members):
                placed.update(m.name.text for m in members)
                groups.append(_make_group(key, members))
    single = [row for row in ours if row.name.text not in placed]
    if single:
        groups.append(Group("", single, [row.name.text for row in single], None))
    if foreign:
        groups.append(Group("", foreign, [row.name.text for row in foreign], 0))
    return groups


def is_blog_row(name: RowName) -> bool:
    """Whether a row does the blog post's work: its file, its buffers, its batches."""
    return name.scope == "file" and all(
        name.keys.get(k) == v for k, v in _BLOG_WORKLOAD.items()
    )


def _keys_to_try(rows: Sequence[Row]) -> list[str]:
    known = [*_COMPARED_KEYS, *_WORK_KEYS]
    other = {key: None for row in rows for key in row.name.keys if key not in known}
    return [*known, *other]


def _differing_only_in(key: str, rows: Sequence[Row]) -> list[list[Row]]:
    groups: dict[object, list[Row]] = {}
    for row in rows:
        common = tuple((k, v) for k, v in row.name.keys.items() if k != key)
        groups.setdefault((row.name.scope, common, row.name.suffixes), []).append(row)
    return list(groups.values())


def _make_group(key: str, rows: list[Row]) -> Group:
    values = [row.name.keys.get(key) for row in rows]
    baseline: int | None = 0
    if key in _WORK_KEYS:
        baseline = None
    elif key == "strategy":
        present = [values.index(s) for s in _BASELINE_STRATEGIES if s in values]
        baseline = present[0] if present else 0
    elif key == "preallocate":
        baseline = next(
            (i for i, value in enumerate(values) if value in (None, "no")), 0
        )
    return Group(
        _title(rows[0].name, key), rows, [_label(r.name, key) for r in rows], baseline
    )


def _title(name: RowName, key: str) -> str:
    return " ".join(
        [str(name.scope), *(f"{k}:{v}" for k, v in name.keys.items() if k != key)]
    )


def _label(name: RowName, key: str) -> str:
    value = name.keys.get(key)
    strategy = name.keys["strategy"]
    method = BLOG_METHODS.get(strategy, strategy) if is_blog_row(name) else strategy
    if key == "strategy":
        return method
    if key == "preallocate":
        return method if value in (None, "no") else f"{method}, preallocated"
    return f"no {key}" if value is None else f"{key}:{value}"
