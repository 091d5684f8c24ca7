"""Conditions on a score, for tests."""

from __future__ import annotations

from typing import Any, Optional

from ._errors import GateFailed, UnjudgedError
from ._run import Judge, Run, judge as judge_items


class Expectation:
    """Items that a test makes demands of. They are judged once, at the first demand."""

    def __init__(self, items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Any) -> None:
        self._ask = (items, judge, model, options)
        self._run: Optional[Run] = items if isinstance(items, Run) else None

    @property
    def run(self) -> Run:
        if self._run is None:
            items, judge, model, options = self._ask
            self._run = judge_items(items, judge, model, **options)
        return self._run

    def at_least(self, share: float) -> "Expectation":
        """The score is at least this share."""
        return self._demand("score", self._score(), share)

    def surely_at_least(self, share: float) -> "Expectation":
        """The lower end of the 95% interval is at least this share."""
        self._score()
        interval = self.run.interval
        if interval is None:
            raise GateFailed(f"the data allow no interval: {self.run!r}", "judge more items")
        return self._demand("lower end of the interval", interval.low, share)

    def each_at_least(self, share: float) -> "Expectation":
        """Every item's own score is at least this share."""
        self._score()
        low = [r for r in self.run.records() if r.score is not None and r.score < share]
        if low:
            names = ", ".join(r.id for r in low[:5]) + (", ..." if len(low) > 5 else "")
            raise GateFailed(f"{len(low)} of {self.run.judged} items score below {share:g}: {names}")
        return self

    def _score(self) -> float:
        if self.run.score is None:
            raise UnjudgedError(
                f"{self.run.unjudged} of {self.run.items} items are unjudged, so there is no score",
                "unjudged is not wrong: see run.failures, or judge again with retry_unjudged=True",
            )
        return self.run.score

    def _demand(self, what: str, value: float, share: float) -> "Expectation":
        if value < share:
            raise GateFailed(f"the {what} is {100 * value:.1f}%, and at least {100 * share:.1f}% is wanted: {self.run!r}")
        return self


def all(items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Any) -> Expectation:
    """Return the items for demands: ``deem.all(items).at_least(0.8)``."""
    return Expectation(items, judge, model, **options)
