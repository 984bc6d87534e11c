"""What a script does on SIGINT, SIGTERM and SIGHUP: it ends, without a traceback and without half a file.

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
    """From now on a signal ends the process at once, with one line and the status 128+signal.

    What is raised from a signal's handler is lost where it meets a finalizer, and becomes another
    error where it meets an import; the end of the process does not.
    """

    def end(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            os.write(2, f"{program}: interrupted\n".encode())
        os._exit(128 + number)

    _handle(end)


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Within it a signal raises Interrupted, for what has something to clear away."""

    def handle(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with _handled(handle):
        yield


@contextlib.contextmanager
def signals_wait(second_waits: bool = False) -> Iterator[None]:
    """Within it the first signal waits for the end of the block, however that ends.

    second_waits: whether the others do, too, rather than end the process at once.
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
    """Install the handler, and return what it takes the place of."""
    return {
        number: signal.signal(number, handler)
        for number in _SIGNALS
        if signal.getsignal(number) != signal.SIG_IGN
    }
