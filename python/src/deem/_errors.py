"""The errors that deem raises, one for each way in which a command can end."""

from __future__ import annotations

from typing import Optional


class DeemError(Exception):
    """deem could not do what it was asked. ``hint`` says what may help."""

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        if self.hint:
            return f"{self.message}\nhint: {self.hint}"
        return self.message


class InputError(DeemError, ValueError):
    """The items, the judge or an option are wrong. Nothing was judged."""


class BudgetError(DeemError):
    """The next call could exceed ``max_cost``. What was judged is kept; the same call resumes."""


class UnjudgedError(DeemError):
    """Too many items have no verdict, so there is no score. The run has all records."""


class GateFailed(DeemError, AssertionError):
    """The run is complete, and a gate does not hold."""


class Interrupted(DeemError, KeyboardInterrupt):
    """The run was interrupted. What was judged is kept; the same call resumes."""


def from_exit(code: int, message: str, hint: Optional[str]) -> DeemError:
    """Return the error for an exit code of the program."""
    if code == 2:
        return InputError(message, hint)
    if code == 3:
        return UnjudgedError(message, hint)
    if code == 4:
        return GateFailed(message, hint)
    if code == 130:
        return Interrupted(message, hint)
    if "budget" in message or "max-cost" in message:
        return BudgetError(message, hint)
    return DeemError(message, hint)
