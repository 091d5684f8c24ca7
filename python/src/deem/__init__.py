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
from ._tools import Result, agree, claims, compare, load, rejudge
from ._assertions import Expectation, all

__all__ = [
    "BudgetError",
    "Call",
    "DeemError",
    "Expectation",
    "Failure",
    "GateFailed",
    "InputError",
    "Interrupted",
    "Interval",
    "Record",
    "Result",
    "Run",
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
    "rejudge",
    "stream",
]

__version__ = "0.0.0"
