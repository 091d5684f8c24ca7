"""Tests of the pytest plugin, run by pytest itself."""

import importlib.metadata
import importlib.util

import pytest

pytest_plugins = ["pytester"]

TESTS = """
    ITEMS = [
        {"id": "a", "question": "Capital of France?", "references": ["Paris"], "response": "It is Paris."},
        {"id": "b", "question": "Capital of Italy?", "references": ["Rome"], "response": "Milan"},
    ]

    def test_passes(deem):
        deem.all(ITEMS, "contains").at_least(0.5)

    def test_fails(deem):
        deem.all(ITEMS, "contains").at_least(0.9)

    def test_unjudged(deem):
        deem.all(ITEMS, lambda item: {"failure": {"kind": "unsure"}}).at_least(0.1)
"""


def run(pytester, *args):
    pytester.makepyfile(TESTS)
    if not installed():
        args = ("-p", "deem.pytest_plugin", *args)
    return pytester.runpytest_subprocess(*args)


def installed():
    """Whether pytest finds the plugin by itself, as it does after pip install."""
    try:
        importlib.metadata.distribution("deem")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def check(result):
    result.stdout.fnmatch_lines(["*= deem =*"])
    result.stdout.fnmatch_lines(["*test_passes: 50.0%*"])
    result.stdout.fnmatch_lines(["*test_unjudged: unjudged: 2 of 2 items are unjudged*"])
    text = result.stdout.str()
    assert "1 failed" in text and "1 passed" in text and "1 unjudged" in text
    assert result.ret == 1


def test_plugin(pytester):
    check(run(pytester, "-p", "no:cacheprovider"))


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_plugin_with_xdist(pytester):
    check(run(pytester, "-n", "2"))
