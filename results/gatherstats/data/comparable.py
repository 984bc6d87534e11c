"""Reports why two runs cannot be compared: something besides the question differs.

A difference that the user asks about is no obstacle: two file systems or two architectures can be
the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gatherstats.data.environment import processor_count
from gatherstats.data.rows import Run

WORK_KEYS = ("count", "size", "window", "file_bytes")
"""Keys of a row's name that determine how much work the row does."""


class Aspect(NamedTuple):
    """A property that must agree. words: for a message; tell: returns a run's value, None if unknown."""

    words: str
    tell: Callable[[Run], str | None]
    implies: tuple[str, ...] = ()
    """Aspects that may differ too, because they follow from this one."""


@dataclass(frozen=True)
class Obstacle:
    """A reason not to compare two sides.

    within: the launches of one side differ among themselves; no question allows that.
    """

    aspect: str
    reason: str
    within: bool


def _setting(key: str) -> Callable[[Run], str | None]:
    return lambda run: run.setting(key)


def _emulation(run: Run) -> str | None:
    emulated = run.setting("emulated")
    words = {None: None, "no": "native", "not known": "not known whether emulated"}
    return words.get(emulated, "emulated")


def _processors(run: Run) -> str | None:
    count = processor_count(run)
    return None if count is None else str(count)


def _time_of_threads(run: Run) -> str | None:
    """Tell which time a row with several threads has; Google Benchmark 1.9 changed it."""
    if all(row.name.threads == 1 for row in run.rows):
        return None
    version = re.match(r"v?(\d+)\.(\d+)", str(run.context.get("library_version", "")))
    if version is None:
        return None
    is_old = (int(version[1]), int(version[2])) < (1, 9)
    return "Google Benchmark before 1.9" if is_old else "Google Benchmark from 1.9 on"


_ASPECTS: dict[str, Aspect] = {
    "emulation": Aspect(
        "emulated against native", _emulation, ("architecture", "processor")
    ),
    "filesystem": Aspect("different file systems", _setting("filesystem"), ("mount",)),
    "buffers": Aspect("different workloads (buffers)", _setting("buffers")),
    "architecture": Aspect("different architectures", _setting("machine")),
    "processor": Aspect("different processors", _setting("cpu")),
    "processors": Aspect("different numbers of processors", _processors),
    "affinity": Aspect("different processors allowed", _setting("cpu_affinity")),
    "kernel": Aspect("different kernels", _setting("kernel")),
    "build": Aspect("different builds", _setting("build_type")),
    "mount": Aspect("different mount options", _setting("mount_options")),
    "threads": Aspect(
        "times of several threads that mean different things", _time_of_threads
    ),
    # Single runs do not record it; a series of launches does (compare.series).
    "boot": Aspect("the machine was started again", lambda run: None),
}

ASPECTS = tuple(_ASPECTS)
"""Aspects that may be allowed to differ, by their names on the command line."""

_FACTS = {
    "emulated": "emulator",
    "mitigations": "mitigations",
    "virtualization": "virtualization",
    "cpu_governor": "governor",
    "page_bytes": "page size",
    "memory_bytes": "memory",
    "memory_limit_bytes": "memory limit",
    "transparent_hugepages": "transparent huge pages",
    "device": "device",
    "device_scheduler": "device's scheduler",
    "device_write_cache": "device's write cache",
    "device_rotational": "rotating device",
    "directory_flags": "directory's flags",
    "libc": "C library",
    "compiler": "compiler",
    "compiler_flags": "compiler's flags",
    "preload": "preloaded libraries",
    "traced": "tracer",
    "seccomp": "system call filter",
    "sync_proof": "syncs",
}
"""Facts that influence figures and are reported where they differ, by key."""


def obstacles(old: Sequence[Run], new: Sequence[Run]) -> list[Obstacle]:
    """List the reasons why the runs cannot be compared; an unknown fact is no reason."""
    found = []
    for name, aspect in _ASPECTS.items():
        sides = [_values(aspect, side) for side in (old, new)]
        mixed = [
            f"{aspect.words} among the {side} launches: {' and '.join(values)}"
            for side, values in zip(("old", "new"), sides)
            if len(values) > 1
        ]
        if mixed:
            found.append(Obstacle(name, "; ".join(mixed), True))
        elif all(sides) and sides[0] != sides[1]:
            against = f"{aspect.words}: {sides[0][0]} against {sides[1][0]}"
            found.append(Obstacle(name, against, False))
    return found


def allowed(across: frozenset[str]) -> frozenset[str]:
    """Add the aspects that follow from these to them."""
    implied = {other for name in across for other in _ASPECTS[name].implies}
    return across | implied


def half_known(old: Sequence[Run], new: Sequence[Run]) -> list[str]:
    """List the facts that only one side has, so nobody could check them: a line for each side."""
    lines = []
    for side, silent, telling in (("old", old, new), ("new", new, old)):
        names = [
            name
            for name, aspect in _ASPECTS.items()
            if _values(aspect, telling) and not _values(aspect, silent)
        ]
        if names:
            lines.append(
                f"Not checked, for {side} does not say it: {', '.join(names)}."
            )
    return lines


def differing_facts(old: Sequence[Run], new: Sequence[Run]) -> list[str]:
    """List the facts that differ and influence figures, but are no obstacle, in words."""
    lines = []
    for key, words in _FACTS.items():
        sides = [_values(Aspect(words, _setting(key)), side) for side in (old, new)]
        if all(sides) and sides[0] != sides[1]:
            against = " against ".join(" or ".join(values) for values in sides)
            lines.append(f"{words} {against}")
    return lines


def _values(aspect: Aspect, side: Sequence[Run]) -> list[str]:
    return sorted({value for run in side if (value := aspect.tell(run)) is not None})


def work_difference(old: dict[str, str], new: dict[str, str]) -> str:
    """Tell why rows with these keys do different work, "" if they do the same."""
    differing = [k for k in WORK_KEYS if old.get(k) != new.get(k)]
    if not differing:
        return ""
    sides = [
        " ".join(f"{k}:{keys.get(k, 'none')}" for k in differing) for keys in (old, new)
    ]
    return f"different workloads: {sides[0]} against {sides[1]}"
