"""Runs other programs; none of them outlives an interruption."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import IO

from gatherstats.process.interruption import signals_wait

_SECONDS_TO_END = 10.0


def run_command(command: list[str], errors: IO | None = None) -> int:
    """Run a command to its end and return its exit status (below 0: the signal that ended it).

    Its stdout is discarded; its stderr goes to `errors`, by default to ours. An exception raised
    here while it runs ends it first. Raises OSError when it cannot be started.
    """
    child = None
    try:
        # A signal in between would leave an unknown child behind.
        with signals_wait(second_waits=True):
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        return child.wait()
    except BaseException:
        if child is not None:
            _end(child)
        raise


def _end(child: subprocess.Popen) -> None:
    """End the child and its descendants, with SIGTERM first unless there is no time."""
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
        try:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait(_SECONDS_TO_END)
        finally:  # also where a second signal ends the waiting
            if child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
