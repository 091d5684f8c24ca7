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
    assert "b: 'Milan', expected 'Rome'" in text
    assert "_assertions.py" not in text and "pytest_plugin.py" not in text
    assert result.ret == 1


def test_plugin(pytester):
    check(run(pytester, "-p", "no:cacheprovider"))


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_plugin_with_xdist(pytester):
    check(run(pytester, "-n", "2"))


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_xdist_workers_share_the_database(pytester):
    pytester.makepyfile(
        """
        import pathlib, time
        import pytest

        ITEMS = [{"id": str(n), "question": "q", "references": ["r"], "response": "r"} for n in range(30)]

        def slow(item):
            pathlib.Path("calls.txt").open("a").write("x")
            time.sleep(0.02)
            return True

        slow.version = "1"

        @pytest.mark.parametrize("n", range(4))
        def test_same(deem, n):
            deem.all(ITEMS, slow).at_least(1.0)
        """
    )
    args = () if installed() else ("-p", "deem.pytest_plugin")
    result = pytester.runpytest_subprocess(*args, "-n", "4")
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    assert len((pytester.path / "calls.txt").read_text()) == 30
    assert [p.name for p in (pytester.path / ".deem").glob("*.db")] == ["deem.db"]
