"""Sorts the rows of a file into tables, and chooses their labels and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gatherstats.data.comparable import WORK_KEYS
from gatherstats.data.names import RowName
from gatherstats.data.rows import Row

BLOG_METHODS = {
    "pwrite": "Write",
    "pwritev": "WriteGather",
    "fallback": "Gather, no pwritev",
    "contiguous": "Contiguous write",
}
"""The strategies of the blog's workload; the first two names are those of the published tables."""

_BLOG_WORKLOAD = {
    "sync": "none",
    "file_bytes": "100000000",
    "count": "4",
    "size": "16000",
}

# Each key's plainest values, the plainest first. For other keys the plainest is no key.
_PLAINEST: dict[str, tuple[str | None, ...]] = {
    "strategy": ("pwrite", "write"),
    "sync": ("none",),
    "create": ("new",),
}
_OFF = (None, "no")

# Keys along which rows are compared, the most interesting first. Rows that differ in another known
# key do different work: they may share a table, but a verdict would mean nothing.
_COMPARED_KEYS = (
    "strategy",
    "preallocate",
    "create",
    "direct",
    "sync_each",
    "sync",
    "target",
    "threads",
)

# Keys that say where a row was measured. One table holds several systems, in a leading column, and
# rows are compared within each.
_SYSTEM_KEYS = ("system", "architecture")


@dataclass(frozen=True)
class Group:
    """The rows of one table.

    title: the part that all names share. labels: each row's name in the table.
    baselines: for each row the index of the row that it is compared with, which for a baseline is
    its own; None for no comparison.
    systems: where each row was measured; empty where that is the same for all.
    system_key: the key of the names that tells the systems apart, such as "architecture".
    """

    title: str
    rows: list[Row]
    labels: list[str]
    baselines: list[int | None]
    systems: list[str] = field(default_factory=list)
    system_key: str = ""

    @property
    def others(self) -> list[int]:
        """The indices of the rows that are compared with a baseline."""
        return [i for i, b in enumerate(self.baselines) if b is not None and b != i]


_MOST_OTHER_KEYS = 20
"""Unknown keys that are tried at most."""


def group_rows(rows: Sequence[Row]) -> list[Group]:
    """Sort a file's rows into tables.

    Rows that differ in their strategy alone make a table; a row without such a partner joins the
    rows that differ from it in one other key. The same rows of several systems share a table. The
    remaining rows make a last table without a baseline. Rows of other suites are one
    table, with their first row as the baseline.
    """
    ours = [row for row in rows if row.name.is_ours]
    foreign = [row for row in rows if not row.name.is_ours]
    groups: list[Group] = []
    placed: set[str] = set()
    for key in _keys_to_try(ours):
        for members in _differing_only_in(key, ours):
            values = {member.name.keys.get(key) for member in members}
            if len(values) >= 2 and any(m.name.text not in placed for m in members):
                placed.update(m.name.text for m in members)
                groups.append(_make_group(key, members))
    single = [row for row in ours if row.name.text not in placed]
    if single:
        groups.append(_plain_group(single, None))
    if foreign:
        groups.append(_plain_group(foreign, 0))
    return groups


def baseline_value(key: str, values: Sequence[str | None]) -> str | None:
    """Choose the value of a key that the others are compared with: the plainest, else the first.

    values: the rows' values of `key`, at least one; None for a row without the key.
    """
    return next((v for v in _PLAINEST.get(key, _OFF) if v in values), values[0])


def system_of(name: RowName) -> tuple[str | None, ...]:
    """Return the part of a row's name that says where it was measured; each system is a separate experiment."""
    return tuple(name.keys.get(key) for key in _SYSTEM_KEYS)


def is_blog_row(name: RowName) -> bool:
    """Whether a row does the blog post's work: its file, its buffers, its batches."""
    return name.scope == "file" and all(
        name.keys.get(k) == v for k, v in _BLOG_WORKLOAD.items()
    )


def _plain_group(rows: list[Row], baseline: int | None) -> Group:
    return Group("", rows, [row.name.text for row in rows], [baseline] * len(rows))


def _keys_to_try(rows: Sequence[Row]) -> list[str]:
    known = [*_COMPARED_KEYS, *WORK_KEYS, *_SYSTEM_KEYS]
    other = {key: None for row in rows for key in row.name.keys if key not in known}
    return [*known, *list(other)[:_MOST_OTHER_KEYS]]


def _differing_only_in(key: str, rows: Sequence[Row]) -> list[list[Row]]:
    groups: dict[object, list[Row]] = {}
    left_out = (key, *_SYSTEM_KEYS)
    for row in rows:
        groups.setdefault(row.name.without(*left_out), []).append(row)
    return list(groups.values())


def _make_group(key: str, rows: list[Row]) -> Group:
    system_key, by_system = _by_system(rows)
    members: list[Row] = []
    baselines: list[int | None] = []
    for part in by_system.values():
        baseline = _baseline(key, part)
        start = None if baseline is None else baseline + len(members)
        members += part
        baselines += [start] * len(part)
    return Group(
        _title(rows[0].name, (key, system_key)),
        members,
        [_label(row.name, key) for row in members],
        baselines,
        [name for name, part in by_system.items() for _ in part] if system_key else [],
        system_key,
    )


def _by_system(rows: list[Row]) -> tuple[str, dict[str, list[Row]]]:
    """Return the key that distinguishes the rows' systems ("" for one system), and each system's rows."""
    telling = [
        k for k in _SYSTEM_KEYS if len({row.name.keys.get(k) for row in rows}) > 1
    ]
    parts: dict[str, list[Row]] = {}
    for row in rows:
        system = ", ".join(row.name.keys.get(key, "") for key in telling)
        parts.setdefault(system, []).append(row)
    return ", ".join(telling), parts


def _baseline(key: str, rows: list[Row]) -> int | None:
    if key in WORK_KEYS or key in _SYSTEM_KEYS:
        return None
    values = [row.name.value(key) for row in rows]
    return values.index(baseline_value(key, values))


def _title(name: RowName, left_out: tuple[str, ...]) -> str:
    pairs = (f"{k}:{v}" for k, v in name.keys.items() if k not in left_out)
    return " ".join([str(name.scope), *pairs])


def _label(name: RowName, key: str) -> str:
    value = name.value(key)
    strategy = name.keys["strategy"]
    method = BLOG_METHODS.get(strategy, strategy) if is_blog_row(name) else strategy
    if key == "strategy":
        return method
    if key == "preallocate":
        return method if value in (None, "no") else f"{method}, preallocated"
    return f"no {key}" if value is None else f"{key}:{value}"
