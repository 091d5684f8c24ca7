"""What comparisons, agreements, audits, checks of tables and probes found, as objects."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from html import escape
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ._records import Interval


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% confidence interval. Shares and differences are from -1 to 1, never percentages."""

    value: Optional[float]
    interval: Optional[Interval]
    n: int
    warnings: Tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Optional[Mapping[str, Any]]) -> Optional["Estimate"]:
        if data is None:
            return None
        interval = None if data.get("lo") is None or data.get("hi") is None else Interval(data["lo"], data["hi"])
        return cls(data.get("value"), interval, int(data.get("n", 0)), tuple(data.get("warnings") or ()))

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError("this number is withheld: it has no value")
        return self.value

    def __str__(self) -> str:
        if self.value is None:
            return "withheld"
        return f"{self.value:.3f}" + (f" {self.interval}" if self.interval else "")


def percent(e: Optional[Estimate], signed: bool = False) -> str:
    """Return an estimate for people: as percentages, with its interval."""
    if e is None or e.value is None:
        return "withheld"
    sign = "+" if signed else ""
    text = f"{100 * e.value:{sign}.1f}" + (" pp" if signed else "%")
    if e.interval is not None:
        text += f" [{100 * e.interval.low:{sign}.1f}, {100 * e.interval.high:{sign}.1f}]"
    return text


class Result(Mapping[str, Any]):
    """What a command found. Items and ``data`` are what the command writes with ``--json``."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """Return the rows of the result's main table."""
        return []

    def to_pandas(self) -> Any:
        """Return the rows of the result's main table as a pandas data frame."""
        return importlib.import_module("pandas").DataFrame(self.to_dicts())

    def __repr__(self) -> str:
        return f"<deem.{type(self).__name__} {self._words()}>"

    def _words(self) -> str:
        return ", ".join(self.data)

    def _repr_html_(self) -> str:
        rows = self.to_dicts()
        if not rows:
            return f"<div><b>{escape(self._words())}</b></div>"
        head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
        body = "".join("<tr>" + "".join(f"<td>{_cell(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
        return f"<div><b>{escape(self._words())}</b><table><tr>{head}</tr>{body}</table></div>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))


@dataclass(frozen=True)
class Difference:
    """The difference between two runs over the same items: second minus first."""

    name: str  # of the category, or "overall"
    first: Optional[float]
    second: Optional[float]
    estimate: Optional[Estimate]
    p: Optional[float]  # adjusted for several tests
    outcome: str  # "better", "worse", "equivalent" or "undecided"
    wins: int
    losses: int
    ties: int
    unjudged: int

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> "Difference":
        return cls(
            name=name,
            first=data.get("first"),
            second=data.get("second"),
            estimate=Estimate.from_json(data.get("difference")),
            p=data.get("p_adjusted"),
            outcome=data.get("outcome", ""),
            wins=data.get("wins", 0),
            losses=data.get("losses", 0),
            ties=data.get("ties", 0),
            unjudged=data.get("unjudged", 0),
        )


class Comparison(Result):
    """Two or more runs over the same items. The first run is the baseline."""

    @property
    def runs(self) -> List[str]:
        """The names of the runs."""
        return [str(r["name"]) for r in self.data["runs"]]

    @property
    def scores(self) -> Dict[str, Optional[Estimate]]:
        """The score of each run, by its name."""
        return {str(r["name"]): Estimate.from_json(r.get("judged")) for r in self.data["runs"]}

    @property
    def differences(self) -> List[Difference]:
        """The overall difference of each later run from the baseline."""
        return [Difference.from_json("overall", p["overall"]) for p in self._from_baseline()]

    @property
    def difference(self) -> Difference:
        """The overall difference of the second run from the baseline."""
        return self.differences[0]

    @property
    def categories(self) -> List[Difference]:
        """The differences of the second run from the baseline, by category."""
        return [Difference.from_json(c["category"], c) for c in self._from_baseline()[0].get("categories") or []]

    @property
    def outcome(self) -> str:
        """``better``, ``worse``, ``equivalent`` or ``undecided``: the second run against the baseline."""
        return self.difference.outcome

    @property
    def is_better(self) -> bool:
        """Whether the second run is better than the baseline by more than chance explains."""
        return self.outcome == "better"

    @property
    def is_worse(self) -> bool:
        """Whether the second run is worse than the baseline by more than chance explains."""
        return self.outcome == "worse"

    def _from_baseline(self) -> List[Dict[str, Any]]:
        return [p for p in self.data.get("pairs") or [] if p["first"] == 0]

    def to_dicts(self) -> List[Dict[str, Any]]:
        rows = []
        for d in [*self.categories, self.difference] if self._from_baseline() else []:
            interval = d.estimate.interval if d.estimate else None
            rows.append(
                {
                    "category": d.name,
                    "first": d.first,
                    "second": d.second,
                    "difference": d.estimate.value if d.estimate else None,
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                    "p": d.p,
                    "outcome": d.outcome,
                    "wins": d.wins,
                    "losses": d.losses,
                    "ties": d.ties,
                    "unjudged": d.unjudged,
                }
            )
        return rows

    def _words(self) -> str:
        if not self._from_baseline():
            return f"{len(self.runs)} runs, no difference shown"
        d = self.difference
        return f"{self.runs[1]} against {self.runs[0]}: {d.outcome}, {percent(d.estimate, signed=True)}"


class Agreement(Result):
    """A judge compared with people's labels, or with another judge."""

    @property
    def agreement(self) -> Optional[Estimate]:
        """The share of items on which both decide alike."""
        return self._of_all("agreement")

    @property
    def kappa(self) -> Optional[Estimate]:
        """Cohen's kappa: agreement beyond chance."""
        return self._of_all("kappa")

    @property
    def false_accepts(self) -> Optional[Estimate]:
        """The share of wrong answers that the judge accepts."""
        return self._of_all("false_accept")

    @property
    def false_rejects(self) -> Optional[Estimate]:
        """The share of right answers that the judge rejects."""
        return self._of_all("false_reject")

    @property
    def score(self) -> Optional[Estimate]:
        """The score of the report, by the judge alone."""
        return Estimate.from_json((self.data.get("corrected") or {}).get("raw"))

    @property
    def corrected(self) -> Optional[Estimate]:
        """The score corrected by the labels: the number to quote. None without a correction."""
        found = self.data.get("corrected") or {}
        quoted = found.get("quote")
        return Estimate.from_json(found.get(quoted)) if quoted else None

    @property
    def labelled(self) -> int:
        """How many judged items have a label."""
        return int(self.data["counts"]["both"])

    def _of_all(self, name: str) -> Optional[Estimate]:
        return Estimate.from_json((self.data.get("all") or {}).get(name))

    def to_dicts(self) -> List[Dict[str, Any]]:
        rows = []
        for c in [*(self.data.get("categories") or []), {"category": "overall", **(self.data.get("all") or {})}]:
            confusion = c.get("confusion") or {}
            agreement, kappa = Estimate.from_json(c.get("agreement")), Estimate.from_json(c.get("kappa"))
            interval = agreement.interval if agreement else None
            rows.append(
                {
                    "category": c["category"],
                    "n": agreement.n if agreement else 0,
                    "agreement": agreement.value if agreement else None,
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                    "kappa": kappa.value if kappa else None,
                    "false_accepts": confusion.get("fp"),
                    "false_rejects": confusion.get("fn"),
                }
            )
        return rows

    def _words(self) -> str:
        words = f"agreement {percent(self.agreement)} on {self.labelled} items"
        if self.corrected is not None:
            words += f", corrected score {percent(self.corrected)}"
        return words


@dataclass(frozen=True)
class Claim:
    """A number that a file publishes, and the number that its rows give."""

    name: str
    claimed: str
    found: Optional[float]
    agrees: bool
    because: str  # the way of counting that gives the claimed number, or why none does


class Audit(Result):
    """A published result file: what it claims, what its rows give, and what other judges say."""

    @property
    def claims(self) -> List[Claim]:
        return [
            Claim(c["name"], str(c["claimed"]), c.get("given"), bool(c.get("agrees")), c.get("because", ""))
            for s in self.data["systems"]
            for c in s.get("claims") or []
        ]

    @property
    def agrees(self) -> bool:
        """Whether every claim follows from the rows."""
        return all(c.agrees for c in self.claims)

    @property
    def scores(self) -> Dict[Tuple[str, str], Optional[Estimate]]:
        """The score of each system by each judge."""
        judges = [str(j["name"]) for j in self.data["judges"]]
        return {
            (str(s["name"]), judges[x["judge"]]): Estimate.from_json(x.get("estimate"))
            for s in self.data["systems"]
            for x in s.get("scores") or []
        }

    def to_dicts(self) -> List[Dict[str, Any]]:
        rows = []
        for (system, judge), e in self.scores.items():
            interval = e.interval if e else None
            rows.append(
                {
                    "system": system,
                    "judge": judge,
                    "score": e.value if e else None,
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                    "n": e.n if e else 0,
                }
            )
        return rows

    def _words(self) -> str:
        wrong = [c for c in self.claims if not c.agrees]
        if wrong:
            return f"not confirmed: {wrong[0].name} is claimed to be {wrong[0].claimed}"
        return f"{len(self.claims)} claims follow from the rows" if self.claims else "no claims in the file"


class TableCheck(Result):
    """A printed table of percentages, checked by arithmetic."""

    @property
    def impossible(self) -> int:
        """How many numbers cannot be right, however the rows were counted."""
        return int(self.data["impossible"])

    @property
    def findings(self) -> List[str]:
        """What was found, a sentence each."""
        return [str(f["text"]) for f in self.data.get("findings") or []]

    def to_dicts(self) -> List[Dict[str, Any]]:
        return [
            {key: n.get(key) for key in ("system", "column", "printed", "size", "runs", "lo", "hi")}
            for n in self.data.get("numbers") or []
        ]

    def _words(self) -> str:
        return f"{self.impossible} impossible of {len(self.data.get('numbers') or [])} numbers"


class ProbeCard(Result):
    """How a judge decided on answers that are known to be right or wrong."""

    @property
    def run(self) -> str:
        """The id of the run that holds the judge's verdicts."""
        return str(self.data["run"])

    @property
    def false_accepts(self) -> Optional[Estimate]:
        """The share of wrong answers that the judge accepts; None if too many are unjudged."""
        return Estimate.from_json((self.data.get("false_accepts") or {}).get("estimate"))

    @property
    def false_rejects(self) -> Optional[Estimate]:
        """The share of right answers that the judge rejects; None if too many are unjudged."""
        return Estimate.from_json((self.data.get("false_rejects") or {}).get("estimate"))

    @property
    def unjudged(self) -> int:
        return int(self.data["unjudged"])

    def to_dicts(self) -> List[Dict[str, Any]]:
        return [
            {key: k.get(key) for key in ("kind", "about", "want", "probes", "judged", "unjudged", "errors")}
            for k in self.data.get("kinds") or []
        ]

    def _words(self) -> str:
        return (
            f"{self.data['judge']}: accepts {percent(self.false_accepts)} of wrong answers, "
            f"rejects {percent(self.false_rejects)} of right ones"
        )


class Plan(Result):
    """What a run would ask, take and cost. Nothing is asked."""

    @property
    def calls(self) -> int:
        return int(self.data["calls"])

    @property
    def cost(self) -> Optional[float]:
        """The expected cost in US dollars; None if the model has no price."""
        micros = self.data.get("cost_micros")
        return None if micros is None else float(micros) / 1e6

    @property
    def max_cost(self) -> Optional[float]:
        """The highest possible cost in US dollars; None if it is not known."""
        micros = self.data.get("cost_max_micros")
        return None if micros is None else float(micros) / 1e6

    @property
    def seconds(self) -> float:
        """About how long it would take."""
        return float(self.data.get("time_ns", 0)) / 1e9

    def _words(self) -> str:
        cost = "cost unknown" if self.cost is None else f"about ${self.cost:.4f}"
        return f"{self.calls} calls, {cost}, about {self.seconds:.0f} s"
