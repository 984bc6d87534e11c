"""Says why two runs cannot be compared: what else than the thing of interest differs.

A difference that the user asks for is no obstacle: two file systems or two architectures are
compared when that is the question.
"""

from __future__ import annotations

from collections.abc import Callable

from gatherstats.data.rows import Run

WORK_KEYS = ("count", "size", "window", "file_bytes")
"""The keys of a row's name that say how much work it does."""


def _emulation(run: Run) -> str | None:
    emulated = run.setting("emulated")
    return None if emulated is None else "native" if emulated == "no" else "emulated"


_CHECKS: dict[str, tuple[str, Callable[[Run], str | None]]] = {
    "emulation": ("emulated against native", _emulation),
    "filesystem": ("different file systems", lambda run: run.setting("filesystem")),
    "buffers": ("different workloads (buffers)", lambda run: run.setting("buffers")),
}

ASPECTS = tuple(_CHECKS)
"""What can be allowed to differ, by the names that the command line uses."""


def obstacles(old: list[Run], new: list[Run]) -> dict[str, str]:
    """Why the runs cannot be compared, in words, by aspect; what a file does not say is no reason."""
    found = {}
    for aspect, (words, tell) in _CHECKS.items():
        sides = [
            sorted({value for run in side if (value := tell(run)) is not None})
            for side in (old, new)
        ]
        # Launches of one side that differ among themselves are no side at all.
        if all(sides) and (sides[0] != sides[1] or len(sides[0]) > 1):
            found[
                aspect
            ] = f"{words}: {', '.join(sides[0])} against {', '.join(sides[1])}"
    return found


def work_difference(old: dict[str, str], new: dict[str, str]) -> str:
    """The reason why rows with these keys do different work, "" if they do the same."""
    differing = [k for k in WORK_KEYS if old.get(k) != new.get(k)]
    if not differing:
        return ""
    sides = [
        " ".join(f"{k}:{keys.get(k, 'none')}" for k in differing) for keys in (old, new)
    ]
    return f"different workloads: {sides[0]} against {sides[1]}"
