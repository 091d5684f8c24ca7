"""The errors that deem raises, one for each way in which a command can end."""

from __future__ import annotations

import re
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


def in_python(text: str) -> str:
    """Return a message or a hint of the command in the words of this package: flags are keywords."""
    text = re.sub(r"\bstdin\b", "the items", text)
    text = re.sub(r"--map ([\w.]+)=([\w.]+)", r'map={"\1": "\2"}', text)
    text = re.sub(r"\bdeem (show|report) (\S+)", r'deem.load("\2")', text)
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda m: m.group(1).replace("-", "_") + "=", text)


def from_exit(code: int, message: str, hint: Optional[str]) -> DeemError:
    """Return the error for an exit code of the program."""
    message = re.sub(r"\bstdin:(\d+)", lambda m: f"item {int(m.group(1)) - 1}", message)
    hint = in_python(hint) if hint else None
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
