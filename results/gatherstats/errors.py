"""The exception for errors that a user can mend."""

from __future__ import annotations


class UserError(Exception):
    """Ends a command with one line. The text is that line, not yet safe to print.

    status: the command's exit status.
    """

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.status = status
