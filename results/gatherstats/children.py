"""Runs other programs so that none of them outlives an interruption."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from types import FrameType
from typing import IO

_SECONDS_TO_END = 10.0


class Interrupted(Exception):
    """SIGINT or SIGTERM came; `number` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_command(command: list[str], errors: IO | None = None) -> int:
    """Run a command to its end and return its exit status (below 0: the signal that ended it).

    Its stdout goes nowhere, its stderr to `errors` or, without, where ours goes. Whatever is raised
    here while it runs ends it first. Raises OSError when it cannot be started.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )
    try:
        return child.wait()
    except BaseException:
        _end(child)
        raise


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Within it the first SIGINT or SIGTERM raises Interrupted, and later ones do nothing."""

    def handle(number: int, frame: FrameType | None) -> None:
        for one in handlers:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(number)

    handlers = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handlers[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, old in handlers.items():
            signal.signal(number, old)


def _end(child: subprocess.Popen) -> None:
    """End the child and all that it started, softly first."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
