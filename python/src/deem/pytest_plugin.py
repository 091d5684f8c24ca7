"""The pytest plugin: a fixture, an outcome of its own for unjudged items, and a summary.

    def test_memory(deem):
        deem.all(items, judge="match").at_least(0.8)

A score that is too low fails the test. Too many unjudged items make it *unjudged*, which is
reported apart from failures: the judge said nothing about the system.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Dict, Generator, List, Optional, Tuple

import pytest

import deem as _deem
from deem._assertions import Expectation
from deem._run import Judge, Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from deem._options import RunOptions

KEY = "deem_runs"


class Fixture:
    """What a test is given: deem's functions, with runs noted for the summary."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def all(self, items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> Expectation:
        __tracebackhide__ = True
        return _deem.all(self.judge(items, judge, model, **options))

    def judge(self, items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> Run:
        __tracebackhide__ = True
        named = self._node.config.getoption("--deem-db")
        if named:
            options.setdefault("db", named)
        run = judge_in_turn(items, judge, model, options)
        self._node.user_properties.append((KEY, run._words()))
        return run


def judge_in_turn(items: Any, judge: Optional[Judge], model: Optional[str], options: "RunOptions") -> Run:
    """Judge items. Workers of pytest-xdist share one database, so that no call is paid for twice;
    where another worker judges the same items, this one waits and then finds the verdicts."""
    __tracebackhide__ = True
    if not hasattr(items, "__len__"):
        items = list(items)  # A generator is needed again after a wait.
    deadline = time.monotonic() + 600
    while True:
        try:
            return _deem.judge(items, judge, model, **options)
        except _deem.DeemError as error:
            if "being judged" not in str(error) or not os.environ.get("PYTEST_XDIST_WORKER") or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture
def deem(request: pytest.FixtureRequest) -> Fixture:
    """Judge items in a test."""
    return Fixture(request.node)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("deem").addoption("--deem-db", default=None, help="keep runs in this database (default .deem/deem.db)")


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    if call.excinfo is not None and call.excinfo.errisinstance(_deem.UnjudgedError):
        item.user_properties.append(("deem_unjudged", str(call.excinfo.value)))
        report.user_properties = list(item.user_properties)


def pytest_report_teststatus(report: Any, config: pytest.Config) -> Optional[Tuple[str, str, str]]:
    if report.when == "call" and report.failed and "deem_unjudged" in dict(report.user_properties):
        return "unjudged", "U", "UNJUDGED"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines: List[str] = []
    stats: Dict[str, List[Any]] = terminalreporter.stats
    for reports in stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            for name, value in report.user_properties:
                if name == KEY:
                    lines.append(f"{report.nodeid}: {value}")
                if name == "deem_unjudged":
                    lines.append(f"{report.nodeid}: unjudged: {value}")
    if lines:
        terminalreporter.section("deem")
        for line in lines:
            terminalreporter.write_line(line)
