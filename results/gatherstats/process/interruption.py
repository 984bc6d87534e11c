"""Ends a script on SIGINT, SIGTERM and SIGHUP, without a traceback and without half a file.

Signals that are ignored when it starts, as under nohup, stay ignored.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_Handler = Callable[[int, FrameType | None], None]


class Interrupted(BaseException):
    """A signal came; `number` says which. Not an Exception, so that nothing takes it for an error."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_on_signals(program: str) -> None:
    """Let a signal end the process at once, with one line and the status 128+signal.

    An exception from a signal's handler would be lost in a finalizer, and become another error in
    an import; the end of the process does not.
    """

    def end(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            os.write(2, f"{program}: interrupted\n".encode())
        os._exit(128 + number)

    _handle(end)


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Let a signal raise Interrupted within the block, for code that must clean up."""

    def handle(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled(handle):
        yield


@contextlib.contextmanager
def signals_wait(second_waits: bool = False) -> Iterator[None]:
    """Hold the first signal back until the block ends, however it ends.

    second_waits: hold further signals back too; otherwise they end the process at once.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1 and not second_waits:
            os._exit(128 + number)

    try:
        with _handled(note):
            yield
    finally:
        if came:  # it counts for more than an error of the block
            signal.raise_signal(came[0])


@contextlib.contextmanager
def _handled(handler: _Handler) -> Iterator[None]:
    before = _handle(handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _handle(handler: _Handler) -> dict[int, _Handler | int | None]:
    """Install the handler, and return the previous ones."""
    return {
        number: signal.signal(number, handler)
        for number in _SIGNALS
        if signal.getsignal(number) != signal.SIG_IGN
    }
