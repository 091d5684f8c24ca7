"""deem: LLM-as-judge evaluation with confidence intervals.

>>> import deem
>>> run = deem.judge([{"question": "Capital of France?", "references": ["Paris"], "response": "It is Paris."}])
>>> run.score
1.0

The package drives the ``deem`` program, which comes with it, over its documented
interface. It has no dependencies; pandas and polars are used where they are installed.
"""

from ._errors import (
    BudgetError,
    DeemError,
    GateFailed,
    InputError,
    Interrupted,
    UnjudgedError,
)
from ._records import Call, Failure, Interval, Record, Verdict
from ._run import Run, ajudge, astream, judge, stream
from ._results import Agreement, Audit, Claim, Comparison, Difference, Estimate, Plan, ProbeCard, Result, TableCheck
from ._tools import agree, claims, compare, load, plan, probe, rejudge
from ._assertions import Expectation, all

__all__ = [
    "Agreement",
    "Audit",
    "BudgetError",
    "Call",
    "Claim",
    "Comparison",
    "DeemError",
    "Difference",
    "Estimate",
    "Expectation",
    "Failure",
    "GateFailed",
    "InputError",
    "Interrupted",
    "Interval",
    "Plan",
    "ProbeCard",
    "Record",
    "Result",
    "Run",
    "TableCheck",
    "UnjudgedError",
    "Verdict",
    "agree",
    "ajudge",
    "all",
    "astream",
    "claims",
    "compare",
    "judge",
    "load",
    "plan",
    "probe",
    "rejudge",
    "stream",
]

__version__ = "0.0.0"
