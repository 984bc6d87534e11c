"""Reads a command's input files, and keeps its output from replacing one of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from gatherstats.data.reader import load
from gatherstats.data.rows import Run
from gatherstats.errors import UserError
from gatherstats.process.output import complain


def load_all(paths: Sequence[str]) -> list[Run]:
    """Read results files. Raises UserError for the first that cannot be read."""
    runs: dict[str, Run] = {}
    for path in paths:
        try:
            runs.setdefault(path, load(path))
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
    return [runs[path] for path in paths]


def load_usable(program: str, paths: Sequence[str]) -> tuple[list[Run], int]:
    """Read results files; report each bad one on stderr, and read the others all the same.

    Returns the runs and the exit status: 0, 1 where a file holds no row, 2 for an unreadable one.
    """
    runs, status = [], 0
    for path in paths:
        try:
            runs.append(load(path))
        except UserError as error:
            status = max(status, complain(program, f"{path}: {error}", error.status))
    return runs, status


def require_other(output: str | None, inputs: Sequence[str]) -> None:
    """Raise UserError where `output` is one of the files that are read."""
    for path in inputs if output else ():
        with contextlib.suppress(OSError):
            if os.path.samefile(output, path):
                raise UserError(f"{output}: is one of the files that are read")
