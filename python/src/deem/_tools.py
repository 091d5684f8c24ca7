"""Comparing runs, agreement with people, published results and tables."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Union

from . import _binary
from ._results import Agreement, Audit, Comparison, Plan, ProbeCard, TableCheck
from ._run import Judge, Run, _is_path, _lines, _plain, judge_flags

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AgreeOptions, ClaimsOptions, CompareOptions, PlanOptions, ProbeOptions, RejudgeOptions

RunLike = Union[Run, str, "os.PathLike[str]"]


def load(run: str, db: Optional[str] = None) -> Run:
    """Return an earlier run: by its id, ``last``, ``last~1``, or a run file."""
    report = _binary.run_json("report", [run], _db(db), allow=(0, 3))
    return Run(report, None, db)


def compare(baseline: RunLike, /, *runs: RunLike, **options: Unpack[CompareOptions]) -> Comparison:
    """Compare runs with a baseline, item by item. Options are the flags of ``deem compare``."""
    names = [_name(baseline), *map(_name, runs)]
    return Comparison(_binary.run_json("compare", names, _flags(baseline, options)))


def agree(
    run: RunLike,
    labels: Union[None, RunLike, Mapping[str, Any], Sequence[Mapping[str, Any]]] = None,
    **options: Unpack[AgreeOptions],
) -> Agreement:
    """Compare the judge of a run with people's labels, or with another run's judge.

    ``labels`` is a file, another run, a dict from item ids to labels, or a list of dicts
    with id and label. Without it the labels in the database are used.
    """
    flags = _flags(run, options)
    if labels is None:
        return Agreement(_binary.run_json("agree", [_name(run)], flags))
    if isinstance(labels, (Run, str, os.PathLike)):
        return Agreement(_binary.run_json("agree", [_name(run), _name(labels)], flags))
    rows: List[Mapping[str, Any]]
    if isinstance(labels, Mapping):
        rows = [{"id": k, "label": v} for k, v in labels.items()]
    else:
        rows = list(labels)
    with _temporary(rows) as name:
        return Agreement(_binary.run_json("agree", [_name(run), name], flags))


def rejudge(*files: Union[str, "os.PathLike[str]"], **options: Unpack[RejudgeOptions]) -> Audit:
    """Check a published file of results, and judge the same responses again."""
    names = [os.fspath(f) for f in files]
    return Audit(_binary.run_json("rejudge", names, _binary.flags(options), allow=(0, 3, 4)))


def claims(table: Union[str, "os.PathLike[str]"], **options: Unpack[ClaimsOptions]) -> TableCheck:
    """Check a table of percentages by arithmetic: a file, or its text."""
    text = os.fspath(table)
    if "\n" in text:
        return TableCheck(_binary.run_json("claims", ["-"], _binary.flags(options), allow=(0, 4), input=text.encode()))
    return TableCheck(_binary.run_json("claims", [text], _binary.flags(options), allow=(0, 4)))


def plan(items: Any, judge: Optional[str] = None, model: Optional[str] = None, **options: Unpack[PlanOptions]) -> Plan:
    """Say what judging these items would ask, cost and take. Nothing is asked."""
    return Plan(_on_items("plan", items, judge, model, _binary.flags(options), (0,)))


def probe(
    items: Any = None, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[ProbeOptions]
) -> ProbeCard:
    """Ask a judge about answers that are known to be right or wrong, made from the items' references.

    A judge without references needs no items.
    """
    return ProbeCard(_on_items("probe", items, judge, model, _binary.flags(options), (0, 3, 4)))


def _on_items(command: str, items: Any, judge: Optional[Judge], model: Optional[str], flags: List[str], allow: Sequence[int]) -> Any:
    """Run a command that reads items: a path, or items that are written to a temporary file."""
    server = judge_flags(judge, model, flags)
    try:
        if items is None or _is_path(items):
            more = [] if items is None else [f"--data={items!s}"]
            return _binary.run_json(command, [], [*flags, *more], allow=allow)
        with _temporary([json.loads(line) for line in _lines(items)]) as name:
            return _binary.run_json(command, [], [*flags, f"--data={name}"], allow=allow)
    finally:
        if server is not None:
            server.close()


def _name(run: RunLike) -> str:
    return run.id if isinstance(run, Run) else os.fspath(run)


def _db(db: Optional[str]) -> List[str]:
    return [f"--db={db}"] if db else []


def _flags(run: RunLike, options: Mapping[str, Any]) -> List[str]:
    """Return the flags of a command about a run: by default in the database of the run."""
    own = run._db if isinstance(run, Run) else None
    return _binary.flags({"db": own, **options})


class _temporary:
    """A file of JSON lines that is removed again."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        fd, self._name = tempfile.mkstemp(suffix=".jsonl", prefix="deem-")
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            for row in rows:
                f.write(json.dumps(dict(row), default=_plain) + "\n")

    def __enter__(self) -> str:
        return self._name

    def __exit__(self, *_: Any) -> None:
        os.unlink(self._name)


__all__ = ["agree", "claims", "compare", "load", "plan", "probe", "rejudge"]
