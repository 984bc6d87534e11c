"""Explains below the blog's tables how long closing the file took, with the published figures.

Closing a file that is thrown away should cost next to nothing. A file system that takes it for one that
replaces another writes all of it out first, so that a crash does not leave an empty file behind
(ext4's mount option auto_da_alloc). The bytes that went to the device prove it; the file system's
name does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gatherstats.data.grouping import Group, is_blog_row
from gatherstats.data.reader import load
from gatherstats.data.rows import SMALL_PHASE, Row, Run, device_share, phases
from gatherstats.text.units import time_unit

REFERENCE = Path(__file__).parents[2] / "reference"

FLUSHED, UNTOUCHED = 0.5, 0.01
"""Limits of the share of a file's bytes on the device: a file counts as flushed from the first
on, as not flushed up to the second."""

REPLACING = {
    "dotnet": "truncated to nothing after it was opened",
    "truncate": "opened with O_TRUNC",
    "rename": "renamed over another",
}
"""Ways of creating a file that trigger ext4's auto_da_alloc, and their description."""


class _Table(NamedTuple):
    """A published table: the key in which its two rows differ, and the reason for its ratio."""

    file: str
    key: str
    value: str
    name: str
    reason: str
    saves_flush: bool
    """Whether the reason is a flush that this kind of row is spared: a run without that does not support it."""


_TABLES = (
    _Table(
        *("dotnet_preallocation.json", "preallocate", "yes", "preallocated"),
        "it is the flush when the file is closed that preallocation saved there too",
        True,
    ),
    _Table(
        *("dotnet_gather.json", "strategy", "pwritev", "WriteGather"),
        "gathering saved its kernel calls and nothing else: large folios came to ext4 with Linux 6.16",
        False,
    ),
)


def closing_lines(group: Group, run: Run) -> list[str]:
    """Say how long closing took in a table of the blog's file, and why; then the published figures."""
    rows = [row for row in group.rows if "close" in phases(row)]
    if group.systems or not rows or not all(_is_the_file(row) for row in rows):
        return []
    labels = {row.name.text: label for row, label in zip(group.rows, group.labels)}
    lines = []
    slow = [row for row in rows if _share(row) > SMALL_PHASE]
    if slow:
        unit = time_unit(phases(row)["close"] for row in slow)
        took = ", ".join(
            f"{phases(row)['close'] / unit.size:.1f} {unit.name} of {labels[row.name.text]}"
            f" ({_share(row) * 100:.0f} %)"
            for row in slow
        )
        lines.append(f"closing took {took}{_why(slow, labels, run)}")
    return lines + _published(rows)


def _is_the_file(row: Row) -> bool:
    return is_blog_row(row.name) and row.name.keys.get("target") == "file"


def _share(row: Row) -> float:
    found = phases(row)
    return found["close"] / (sum(found.values()) or 1.0)


def _is_flushed(row: Row) -> bool | None:
    """Whether an operation sent its file to the device without a sync; None if unknown."""
    share = device_share(row)
    if share is None or UNTOUCHED < share < FLUSHED:
        return None
    return share >= FLUSHED


def _why(rows: Sequence[Row], labels: dict[str, str], run: Run) -> str:
    flushed = [row for row in rows if _is_flushed(row)]
    if not flushed:
        known = all(_is_flushed(row) is False for row in rows)
        free = (
            ": nothing was sent to the device, what is left is to free the file's pages"
        )
        return free if known else ""
    spared = [
        labels[row.name.text]
        for row in rows
        if _is_flushed(row) is False and row.name.keys.get("preallocate", "no") != "no"
    ]
    whose = " and ".join(labels[row.name.text] for row in flushed)
    parts = [
        "the whole file was sent to the device"
        + ("" if len(flushed) == len(rows) else f" with {whose}")
        + ", though nothing asked for it"
    ]
    done = REPLACING.get(flushed[0].name.keys.get("create", ""))
    mount = run.setting("auto_da_alloc") or ""
    if done and mount.startswith("yes"):
        how = mount.removeprefix("yes, ") if mount != "yes" else "is on"
        parts.append(
            f"a file that was {done} counts as one that replaces another, which ext4 writes out"
            f" when it is closed (auto_da_alloc {how})"
        )
    else:
        parts.append("why this file system does so is not known here")
    if spared:
        parts.append(f"blocks that were preallocated need no flush ({spared[0]})")
    return ": " + "; ".join(parts)


def _published(rows: Sequence[Row]) -> list[str]:
    """Say the published medians of the same two rows on Linux, with our explanation."""
    for table in _TABLES:
        kinds = {row.name.keys.get(table.key) == table.value for row in rows}
        if kinds == {True, False}:
            break
    else:
        return []
    medians = {
        row.name.keys.get(table.key) == table.value: row.aggregates.median_s
        for row in load(REFERENCE / table.file).rows
        if row.name.keys.get("system") == "Ubuntu"
    }
    said = (
        f"published for Ubuntu: Write {medians[False] * 1e3:.2f} ms, {table.name}"
        f" {medians[True] * 1e3:.2f}, a ratio of {medians[True] / medians[False]:.2f} (medians without"
        " an n, so no word)"
    )
    flushed = {
        row.name.keys.get(table.key) == table.value: _is_flushed(row) for row in rows
    }
    if table.saves_flush and flushed != {False: True, True: False}:
        return [said]
    return [f"{said}; most likely (our explanation, not theirs) {table.reason}"]
