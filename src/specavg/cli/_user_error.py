"""What goes wrong on the command line, with the exit code it leads to."""

from __future__ import annotations


class UserError(Exception):
    """One sentence for the user, and an exit code: 1 for data and files, 2 for the command itself."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
