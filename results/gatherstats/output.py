"""Prints to stdout and stderr in a way that no closed pipe, full disk or odd character can break."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from gatherstats.text import printable


def complain(program: str, message: str, status: int = 2) -> int:
    """Print one line on stderr, after what stdout already has, and return the exit status."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(f"{program}: {printable(message)}", file=sys.stderr)
    return status


def run_main(program: str, main: Callable[[], int]) -> int:
    """Call `main` and return its exit status, or 1 with one line if its output cannot be written.

    A reader that stops early, such as `head`, is no error worth a word.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")
    try:
        status = main()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        _discard_stdout()
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        _discard_stdout()
        print(f"{program}: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1


def _discard_stdout() -> None:
    """Send what is still buffered to nowhere, so that Python's own flush at exit is silent."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
