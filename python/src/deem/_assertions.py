"""Conditions on a score, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

from ._errors import GateFailed, UnjudgedError
from ._records import Record
from ._run import Judge, Run, judge as judge_items

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import RunOptions


class Expectation:
    """Items that a test makes demands of. They are judged once, at the first demand."""

    def __init__(self, items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> None:
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
        __tracebackhide__ = True
        return self._demand("score", self._score(), share)

    def surely_at_least(self, share: float) -> "Expectation":
        """The lower end of the 95% interval is at least this share."""
        __tracebackhide__ = True
        self._score()
        interval = self.run.interval
        if interval is None:
            raise GateFailed(f"the data allow no interval: {self.run!r}", "judge more items")
        return self._demand("lower end of the interval", interval.low, share)

    def each_at_least(self, share: float) -> "Expectation":
        """Every item's own score is at least this share."""
        __tracebackhide__ = True
        self._score()
        low = [r for r in self.run.records() if r.score is not None and r.score < share]
        if low:
            raise GateFailed(f"{len(low)} of {self.run.judged} items score below {share:g}{listed(low)}")
        return self

    def _score(self) -> float:
        __tracebackhide__ = True
        if self.run.score is None:
            raise UnjudgedError(
                f"{self.run.unjudged} of {self.run.items} items are unjudged, so there is no score",
                "unjudged is not wrong: see run.failures, or judge again with retry_unjudged=True",
            )
        return self.run.score

    def _demand(self, what: str, value: float, share: float) -> "Expectation":
        __tracebackhide__ = True
        if value < share:
            wrong = [r for r in self.run.records() if r.score is not None and r.score < 0.5]
            raise GateFailed(
                f"the {what} is {100 * value:.1f}%, below the required {100 * share:.1f}% (run {self.run.id}: {self.run._words()}){listed(wrong)}"
            )
        return self


def listed(records: List[Record], most: int = 10) -> str:
    """Return the items with their responses, a line each."""
    lines = [f"\n  {r.id}: {_short(r.item.get('response'))}, expected {_short(r.item.get('references'))}" for r in records[:most]]
    if len(records) > most:
        lines.append(f"\n  and {len(records) - most} more")
    return "".join(lines)


def _short(value: Any, most: int = 60) -> str:
    text = " or ".join(map(str, value)) if isinstance(value, list) else str(value)
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def all(items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> Expectation:
    """Return the items for demands: ``deem.all(items).at_least(0.8)``."""
    return Expectation(items, judge, model, **options)
