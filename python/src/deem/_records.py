"""What a run holds: records with verdicts or failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, NamedTuple, Optional


class Interval(NamedTuple):
    """A confidence interval. Its ends are shares, from 0 to 1."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Verdict:
    """One judge's decision on one item."""

    label: str
    score: float
    passed: Optional[bool] = None
    aspects: Dict[str, float] = field(default_factory=dict)
    reason: str = ""
    confidence: Optional[float] = None
    parts: List[Dict[str, Any]] = field(default_factory=list)
    """The verdicts on the criteria of the item: name, label, score, reason or failure."""


@dataclass(frozen=True)
class Failure:
    """Why an item has no verdict. Unjudged is not wrong."""

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Call:
    """One call to a model."""

    model: str
    text: str
    cost: float  # US dollars
    latency: float  # seconds
    error: str = ""


@dataclass(frozen=True)
class Record:
    """An item with one judge's verdict on it, or with the reason why there is none."""

    item: Dict[str, Any]
    position: int  # of the item in the data, from 0
    judge: str
    trial: int
    verdict: Optional[Verdict]
    failure: Optional[Failure]
    calls: List[Call]

    @property
    def id(self) -> str:
        return str(self.item["id"])

    @property
    def score(self) -> Optional[float]:
        """The score from 0 to 1, or None for an item without a verdict."""
        return None if self.verdict is None else self.verdict.score

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Record":
        verdict, failure = data.get("verdict"), data.get("failure")
        return cls(
            item=dict(data["item"]),
            position=data.get("position", 0),
            judge=data.get("judge", ""),
            trial=data.get("trial", 0),
            verdict=None
            if verdict is None
            else Verdict(
                label=verdict["label"],
                score=verdict["score"],
                passed=verdict.get("pass"),
                aspects=dict(verdict.get("aspects") or {}),
                reason=verdict.get("reason", ""),
                confidence=verdict.get("confidence"),
                parts=list(verdict.get("parts") or []),
            ),
            failure=None if failure is None else Failure(failure["kind"], failure.get("detail", "")),
            calls=[_call(c) for c in data.get("calls") or []],
        )

    def to_dict(self) -> Dict[str, Any]:
        """Return one flat row, for tables."""
        row: Dict[str, Any] = {
            "id": self.id,
            "category": self.item.get("category"),
            "cluster": self.item.get("cluster"),
            "question": self.item.get("question"),
            "references": self.item.get("references"),
            "response": self.item.get("response"),
            "trial": self.trial,
            "label": self.verdict.label if self.verdict else None,
            "score": self.score,
            "reason": self.verdict.reason if self.verdict else None,
            "confidence": self.verdict.confidence if self.verdict else None,
            "failure": self.failure.kind if self.failure else None,
            "detail": self.failure.detail if self.failure else None,
            "cost": sum(c.cost for c in self.calls),
        }
        if self.verdict:
            row.update({f"aspect.{name}": value for name, value in self.verdict.aspects.items()})
        return row


def _call(data: Mapping[str, Any]) -> Call:
    reply = data.get("reply") or {}
    return Call(
        model=data.get("model", ""),
        text=reply.get("text", ""),
        cost=reply.get("cost_micros", 0) / 1e6,
        latency=reply.get("latency_ns", 0) / 1e9,
        error=data.get("error", ""),
    )
