"""Prints to stdout and stderr, whatever happens: a closed pipe, a full disk, an odd character."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from collections.abc import Callable

from gatherstats.process.interruption import end_on_signals
from gatherstats.text.safe import printable

NARROWEST, WIDEST = 80, 120
"""Limits of the terminal's width that output is laid out for, in columns."""


def screen_width() -> int:
    """Return the columns of stdout's terminal, within NARROWEST and WIDEST; WIDEST if it is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return WIDEST
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def complain(program: str, message: str, status: int = 2) -> int:
    """Flush stdout, print one line on stderr, and return the exit status."""
    if sys.stdout is not None:
        sys.stdout.flush()
    print(f"{program}: {printable(message)}", file=sys.stderr)
    return status


class OutputError(Exception):
    """stdout cannot be written; the text is the reason."""


def run_main(program: str, main: Callable[[], int]) -> int:
    """Call `main` and return its exit status, or 2 with one line if its output cannot be written.

    A reader that stops early, such as `head`, is no error worth a word; the status is a shell's for
    a program that SIGPIPE ended. Neither is 1, which has a meaning of its own for most programs.
    """
    _open_streams()
    end_on_signals(program)
    try:
        status = _status_of(main)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _discard_stdout()
        return 128 + signal.SIGPIPE
    except OutputError as error:
        _discard_stdout()
        print(f"{program}: cannot write the output: {error}", file=sys.stderr)
        return 2


def _status_of(main: Callable[[], int]) -> int:
    try:
        return main()
    except SystemExit as end:  # argparse, after --help or bad usage
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1


class _Output(io.FileIO):
    """stdout's file; its errors are told apart from those of other files."""

    def write(self, data: bytes) -> int | None:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(error.strerror) from error


class _Courtesy(io.FileIO):
    """A file that accepts everything, even if it cannot write it."""

    def write(self, data: bytes) -> int:
        try:
            written = super().write(data)
        except OSError:
            written = None
        return len(data) if written is None else written


def _open_streams() -> None:
    """Make a closed stdout fail, and stderr never fail.

    Otherwise the next open file would get the number of the closed stream, and Python would print
    to stdout instead of a stderr that is None.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)
    encoding = sys.stdout.encoding if sys.stdout else None
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(1, "w", closefd=False)), encoding, "backslashreplace"
    )
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    raw = io.BufferedWriter(_Courtesy(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(
        raw, encoding, "backslashreplace", line_buffering=True
    )


def _discard_stdout() -> None:
    """Discard the buffer: otherwise Python's own flush at exit would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
