"""Reads Google Benchmark's JSON, versions 1.5 to 1.9, and says in one line what is wrong with it.

Unknown keys are tolerated. Where a row's repetitions are in the file, they alone are used: the
aggregates beside them are ignored, because Google Benchmark 1.7.1 computes a wrong median for some
even numbers of repetitions.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gatherstats.data.names import parse_name
from gatherstats.data.rows import Aggregates, Row, Run
from gatherstats.errors import UserError
from gatherstats.text.units import SECONDS_PER_UNIT

# Google Benchmark's own numbers in a row; the others are counters.
_OWN_KEYS = frozenset(
    "family_index per_family_instance_index repetitions repetition_index threads iterations"
    " real_time cpu_time rms cpu_coefficient real_coefficient".split()
)

# The first bytes of a gzip file; the content decides, not the name.
_GZIP = b"\x1f\x8b"

# Sanity limit in bytes, compressed or not: about 400,000 repetitions.
_LARGEST_BYTES = 1 << 28

# Sanity limit on JSON's values, counted by the characters that begin or separate them. Python takes
# some hundred bytes for each, even for {}.
_MOST_VALUES = 15_000_000

# Sanity limit on the characters of a name.
_LONGEST_NAME = 2000

# Limits of a repetition's time; beyond them arithmetic would overflow.
_SHORTEST_S = 1e-18
_LONGEST_S = 1e12

# The same for counters and numbers of repetitions.
_LARGEST_NUMBER = 1e30

# Aggregates in use, by aggregate_name; cv, BigO, RMS and the user's own are ignored.
_AGGREGATES = {
    "mean": "mean_s",
    "stddev": "stddev_s",
    "median": "median_s",
    "min": "min_s",
    "max": "max_s",
}


# The error for a doubled key: readers of JSON disagree on which value counts.
_TWICE = "the key {} comes twice"

NO_ROW = 1
"""The status of the error for a well-formed results file that holds no row."""


@dataclass
class _Entries:
    """The JSON objects that belong to one name."""

    order: tuple[float, float, int]
    repetitions: list[dict] = field(default_factory=list)
    aggregates: dict[str, dict] = field(default_factory=dict)
    indices: set[object] = field(default_factory=set)
    duplicates: int = 0


def load(path: str | Path) -> Run:
    """Read one results file.

    Raises UserError when the file cannot be read, is not JSON or is not Google Benchmark's, or holds
    no row (with the status NO_ROW).
    """
    document, _ = _read_document(path)
    if isinstance(document, _Doubled):
        raise UserError(_TWICE.format(document.key))
    if not isinstance(document, dict) or not isinstance(
        document.get("benchmarks"), list
    ):
        raise UserError(
            "this JSON is not Google Benchmark's: it has no list of benchmarks"
        )
    context = document.get("context", {})
    if not isinstance(context, dict):
        raise UserError("this JSON is not Google Benchmark's: its context is no object")
    if isinstance(context, _Doubled):
        raise UserError(_TWICE.format(context.key))
    if not document["benchmarks"]:
        raise UserError('no data: the list "benchmarks" is empty', NO_ROW)
    problems: list[str] = []
    entries = _collect(document["benchmarks"], problems)
    rows = [_make_row(name, e, problems) for name, e in entries]
    if not rows:
        raise UserError(
            "no data: " + (problems[0] if problems else "no row has a time"), NO_ROW
        )
    # Lists and objects, such as the caches, are shown nowhere, and may nest without end.
    facts = {k: v for k, v in context.items() if not isinstance(v, (dict, list))}
    return Run(str(path), facts, rows, problems)


class _Doubled(dict):
    """A JSON object with a doubled key: its meaning is unknown."""

    key = ""


def read_json(path: str | Path) -> object:
    """Read a file of JSON, compressed or not. Raises UserError, for a doubled key too."""
    document, doubled = _read_document(path)
    if doubled:
        raise UserError(_TWICE.format(doubled[0].key))
    return document


def _object_of(doubled: list[_Doubled]) -> Callable[[list[tuple[str, object]]], dict]:
    """Make a hook for JSON's objects that collects those with a doubled key."""

    def make(pairs: list[tuple[str, object]]) -> dict:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        keys = [key for key, _ in pairs]
        value = _Doubled(value)
        value.key = next(key for i, key in enumerate(keys) if key in keys[:i])
        doubled.append(value)
        return value

    return make


def _read_document(path: str | Path) -> tuple[object, list[_Doubled]]:
    """Read a file of JSON; returns its value and its objects with a doubled key."""
    try:
        with open(path, "rb") as file:
            data = _read(file)
    except OSError as error:
        raise UserError(error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in the path
        raise UserError(str(error)) from error
    if data.startswith(_GZIP):
        data = _decompressed(data)
    if len(data) > _LARGEST_BYTES:
        raise UserError(f"it holds more than {_LARGEST_BYTES >> 20} MiB")
    if not data.strip():
        raise UserError("no data: the file is empty")
    if sum(data.count(mark) for mark in b"{[,") > _MOST_VALUES:
        raise UserError(f"it holds more than {_MOST_VALUES} values")
    try:
        doubled: list[_Doubled] = []
        text = data.decode("utf-8-sig", errors="replace")
        return json.loads(text, object_pairs_hook=_object_of(doubled)), doubled
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
            raise UserError(
                "no data: the file is cut short, its JSON does not end"
            ) from error
        raise UserError(f"not JSON: {error.msg} in line {error.lineno}") from error
    except (RecursionError, ValueError) as error:
        raise UserError(
            "not usable JSON: nested too deeply or a number too long"
        ) from error


def _read(file: BinaryIO) -> bytes:
    """Read a file, or just over _LARGEST_BYTES of it, in pieces: one large read would allocate that much for
    any file."""
    data = bytearray()
    while len(data) <= _LARGEST_BYTES and (piece := file.read(1 << 20)):
        data += piece
    return bytes(data)


def _decompressed(data: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as file:
            return _read(file)
    except EOFError as error:
        raise UserError("no data: the compressed file is cut short") from error
    except (OSError, zlib.error) as error:
        raise UserError("the compressed file is damaged") from error


def _collect(items: list, problems: list[str]) -> Iterator[tuple[str, _Entries]]:
    """Sort the file's objects by name, in the order of registration.

    The objects come in the order of completion, which random interleaving mixes.
    """
    entries: dict[str, _Entries] = {}
    nameless = 0
    for position, item in enumerate(items):
        name = _name_of(item)
        if name is None:
            nameless += 1
            continue
        entry = entries.get(name)
        if entry is None:
            entry = entries[name] = _Entries(_order(item, position))
        if item.get("run_type") == "aggregate":
            _add_aggregate(entry, item)
        else:
            _add_repetition(entry, item)
    if nameless:
        problems.append(
            f"{nameless} of {len(items)} entries have no name of 1 to"
            f" {_LONGEST_NAME} characters and were left out"
        )
    for name, entry in entries.items():
        if entry.duplicates:
            problems.append(
                f"{name}: the name comes twice; the first is used, {entry.duplicates} further"
                f" {'entry was' if entry.duplicates == 1 else 'entries were'} left out"
            )
    used = {n: e for n, e in entries.items() if e.repetitions or e.aggregates}
    return iter(sorted(used.items(), key=lambda pair: pair[1].order))


def _name_of(item: object) -> str | None:
    """Return the benchmark's name without an aggregate's ending, None if the entry has no name."""
    if not isinstance(item, dict):
        return None
    name = item.get("run_name", item.get("name"))
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        return None
    if "run_name" not in item and item.get("run_type") == "aggregate":
        return name.removesuffix("_" + _text(item.get("aggregate_name")))
    return name


def _order(item: dict, position: int) -> tuple[float, float, int]:
    """Return a benchmark's place: by registration if the file has it (from 1.6), else as it came."""
    family = _number(item.get("family_index"))
    instance = _number(item.get("per_family_instance_index"))
    return (family or 0.0, instance or 0.0, position)


def _add_repetition(entry: _Entries, item: dict) -> None:
    index = item.get("repetition_index")
    family = _order(item, 0)
    if index is None and item.get("repetitions") != 1:
        entry.repetitions.append(item)  # an old version, which does not number them
        return
    key = _text(index)
    same_family = not entry.repetitions or family == _order(entry.repetitions[0], 0)
    if key in entry.indices or not same_family:
        entry.duplicates += 1
        return
    entry.indices.add(key)
    entry.repetitions.append(item)


def _add_aggregate(entry: _Entries, item: dict) -> None:
    name = _text(item.get("aggregate_name"))
    if name not in _AGGREGATES:
        return
    if name in entry.aggregates:
        entry.duplicates += 1
        return
    entry.aggregates[name] = item


def _make_row(name: str, entry: _Entries, problems: list[str]) -> Row:
    items = entry.repetitions or list(entry.aggregates.values())
    row = Row(parse_name(name), label=_text(items[0].get("label")))
    row.error = next((e for e in map(_error_of, items) if e is not None), None)
    if row.failed:
        return row
    row.counters = _counters(items if entry.repetitions else items[:1])
    row.expected = _count(items[0].get("repetitions"))
    if entry.repetitions:
        row.times_s = np.array([_seconds(item) for item in items], dtype=float)
        row.step_s = _step(items)
        start = row.counters.get("start_s")
        row.start_s = (
            start if start is not None and start.size == row.times_s.size else None
        )
        if row.expected is not None and len(items) < row.expected:
            problems.append(
                f"{name}: cut short, {len(items)} of {row.expected} repetitions are in the file"
            )
    else:
        times = {_AGGREGATES[n]: _seconds(item) for n, item in entry.aggregates.items()}
        row.aggregates = Aggregates(n=row.expected, **times)
    return row


def _error_of(item: dict) -> str | None:
    """Tell why this entry has no usable time, None if it has one."""
    if isinstance(item, _Doubled):
        return _TWICE.format(item.key)
    if item.get("error_occurred"):
        message = _text(item.get("error_message"))
        # Older versions of gatherbench put the row's name first; renderers add it themselves.
        message = message.removeprefix(f"{item.get('run_name')}: ")
        return message or "failed without a message"
    if item.get("skipped"):
        message = _text(item.get("skip_message")) or _text(item.get("error_message"))
        return "skipped: " + (message or "without a message")
    unit = _text(item.get("time_unit", "ns"))
    if unit not in SECONDS_PER_UNIT:
        return f"unknown time unit {unit!r}"
    time = _number(item.get("real_time"))
    if time is None:
        return "no real_time" if "real_time" not in item else "real_time is no number"
    if not math.isfinite(time):
        return f"real_time is {time}"
    if time < 0:
        return "real_time is negative"
    if time and not _SHORTEST_S <= time * SECONDS_PER_UNIT[unit] <= _LONGEST_S:
        return f"real_time is {time:g} {unit}"
    return None


def _seconds(item: dict) -> float:
    return float(item["real_time"]) * SECONDS_PER_UNIT[item.get("time_unit", "ns")]


def _step(items: list[dict]) -> float:
    """Return the unit of times that are all whole numbers, in seconds; 0 if they are not."""
    if any(float(item["real_time"]) % 1 for item in items):
        return 0.0
    return max(SECONDS_PER_UNIT[item.get("time_unit", "ns")] for item in items)


def _counters(items: list[dict]) -> dict[str, np.ndarray]:
    """Collect the usable values of each counter; repetitions may lack some counters."""
    keys = {key: None for item in items for key in item if key not in _OWN_KEYS}
    found = {}
    for key in keys:
        values = [v for item in items if type(v := item.get(key)) in (int, float)]
        if values:
            numbers = _as_floats(values)
            found[key] = numbers[np.abs(numbers) <= _LARGEST_NUMBER]
    return {key: values for key, values in found.items() if values.size}


def _as_floats(values: list[int | float]) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except OverflowError:  # a whole number too large for one
        return np.array([_number(value) for value in values], dtype=float)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _count(value: object) -> int | None:
    number = _number(value)
    return (
        int(number) if number is not None and 1 <= number <= _LARGEST_NUMBER else None
    )


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, (dict, list)) else str(value)
