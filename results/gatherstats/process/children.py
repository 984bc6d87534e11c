"""Runs other programs so that none of them outlives an interruption."""

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

    Its stdout goes nowhere, its stderr to `errors` or, without, where ours goes. Whatever is raised
    here while it runs ends it first. Raises OSError when it cannot be started.
    """
    child = None
    try:
        # Or a child could be started and not be known.
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
    """End the child and all that it started, softly first unless there is no time for that."""
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
        try:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait(_SECONDS_TO_END)
        finally:  # also where a second signal ends the waiting
            if child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
