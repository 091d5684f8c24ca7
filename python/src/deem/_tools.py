"""Comparing runs, agreement with people, published results and tables."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from . import _binary
from ._records import Interval
from ._run import Run, _plain

RunLike = Union[Run, str, "os.PathLike[str]"]


class Result(Mapping[str, Any]):
    """What a command found, as its JSON describes it. ``failed`` says that a gate did not hold."""

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<deem.Result {', '.join(self.data)}>"


def load(run: str, db: Optional[str] = None) -> Run:
    """Return an earlier run: by its id, ``last``, ``last~1``, or a run file."""
    report = _binary.run_json("report", [run], _db(db), allow=(0, 3))
    return Run(report, None, db)


def compare(baseline: RunLike, *runs: RunLike, db: Optional[str] = None, **options: Any) -> Result:
    """Compare runs with a baseline, item by item. Options are the flags of ``deem compare``."""
    names = [_name(baseline), *map(_name, runs)]
    return Result(_binary.run_json("compare", names, [*_db(db or _db_of(baseline)), *_binary.flags(options)]))


def agree(
    run: RunLike,
    labels: Union[None, RunLike, Mapping[str, Any], Sequence[Mapping[str, Any]]] = None,
    db: Optional[str] = None,
    **options: Any,
) -> Result:
    """Compare the judge of a run with people's labels, or with another run's judge.

    ``labels`` is a file, another run, a dict from item ids to labels, or a list of dicts
    with id and label. Without it the labels in the database are used.
    """
    flags = [*_db(db or _db_of(run)), *_binary.flags(options)]
    if labels is None:
        return Result(_binary.run_json("agree", [_name(run)], flags))
    if isinstance(labels, (Run, str, os.PathLike)):
        return Result(_binary.run_json("agree", [_name(run), _name(labels)], flags))
    rows: List[Mapping[str, Any]]
    if isinstance(labels, Mapping):
        rows = [{"id": k, "label": v} for k, v in labels.items()]
    else:
        rows = list(labels)
    with _temporary(rows) as name:
        return Result(_binary.run_json("agree", [_name(run), name], flags))


def rejudge(*files: Union[str, "os.PathLike[str]"], **options: Any) -> Result:
    """Check a published file of results, and judge the same responses again."""
    names = [os.fspath(f) for f in files]
    return Result(_binary.run_json("rejudge", names, _binary.flags(options), allow=(0, 3, 4)))


def claims(table: Union[str, "os.PathLike[str]"], **options: Any) -> Result:
    """Check a table of percentages by arithmetic: a file, or its text."""
    text = os.fspath(table)
    if "\n" in text:
        return Result(_binary.run_json("claims", ["-"], _binary.flags(options), allow=(0, 4), input=text.encode()))
    return Result(_binary.run_json("claims", [text], _binary.flags(options), allow=(0, 4)))


def _name(run: RunLike) -> str:
    return run.id if isinstance(run, Run) else os.fspath(run)


def _db(db: Optional[str]) -> List[str]:
    return [f"--db={db}"] if db else []


def _db_of(run: RunLike) -> Optional[str]:
    return run._db if isinstance(run, Run) else None


class _temporary:
    """A file of JSON lines that is removed again."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        import json

        fd, self._name = tempfile.mkstemp(suffix=".jsonl", prefix="labels-")
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            for row in rows:
                f.write(json.dumps(dict(row), default=_plain) + "\n")

    def __enter__(self) -> str:
        return self._name

    def __exit__(self, *_: Any) -> None:
        os.unlink(self._name)


__all__ = ["Interval", "Result", "agree", "claims", "compare", "load", "rejudge"]
