"""Judging items: deem.judge, deem.stream and their async twins."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import json
import os
import subprocess
import threading
from html import escape
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    Union,
    cast,
    overload,
)

from . import _binary
from ._errors import DeemError, InputError, Interrupted, from_exit
from ._functions import Grader, Server, serve
from ._progress import progress_of
from ._records import Interval, Record
from ._results import Estimate

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ExportOptions, RunOptions

Judge = Union[str, Grader]


class Run:
    """What came of judging: the score with its interval, and every record."""

    def __init__(self, report: Dict[str, Any], records: Optional[List[Record]] = None, db: Optional[str] = None) -> None:
        self.report = report
        self._records = records
        self._db = db

    @property
    def id(self) -> str:
        """The id of the run in the database."""
        return str(self.report["head"]["run"])

    @property
    def judge(self) -> str:
        return str(self.report["head"]["judge"])

    @property
    def items(self) -> int:
        return int(self.report["items"])

    @property
    def judged(self) -> int:
        return int(self.report["judged"])

    @property
    def unjudged(self) -> int:
        return int(self.report["unjudged"])

    @property
    def score(self) -> Optional[float]:
        """The share of right answers among judged items; None when too many are unjudged."""
        estimate = self._estimate()
        return None if estimate is None else float(estimate["value"])

    @property
    def interval(self) -> Optional[Interval]:
        """The 95% confidence interval of the score; None where there is none."""
        estimate = self._estimate()
        if estimate is None or estimate.get("lo") is None:
            return None
        return Interval(estimate["lo"], estimate["hi"])

    def _estimate(self) -> Optional[Dict[str, Any]]:
        metrics = self.report.get("metrics") or []
        return cast(Optional[Dict[str, Any]], metrics[0].get("judged")) if metrics else None

    @property
    def undecided(self) -> int:
        """How many items a rule left open; the score counts each with the probability that it is right."""
        return int((self.report.get("undecided") or {}).get("n", 0))

    @property
    def estimate(self) -> Optional[Estimate]:
        """The score with its interval, number of items and warnings."""
        return Estimate.from_json(self._estimate())

    @property
    def categories(self) -> Dict[str, Optional[float]]:
        """The score of each category."""
        return {
            c["name"]: (c["judged"]["value"] if c.get("judged") else None) for c in self.report.get("categories") or []
        }

    @property
    def cost(self) -> float:
        """What the calls cost, in US dollars."""
        return float((self.report.get("calls") or {}).get("cost_micros", 0)) / 1e6

    @property
    def failures(self) -> List[Record]:
        """The records without a verdict."""
        return [r for r in self.records() if r.failure is not None]

    def records(self) -> Iterator[Record]:
        """Return every record, in the order of the items."""
        if self._records is None:
            self._records = list(_export(self.id, self._db))
        return iter(self._records)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """Return one flat row for each record."""
        return [r.to_dict() for r in self.records()]

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row for each record."""
        return importlib.import_module("pandas").DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """Return a polars data frame with one row for each record."""
        return importlib.import_module("polars").DataFrame(self.to_dicts())

    def export(self, path: Union[str, "os.PathLike[str]"], format: Optional[str] = None, **options: Unpack[ExportOptions]) -> None:
        """Write the run to a file: a run file (``run.deem``), CSV, Parquet, HTML, ... (``deem list formats``)."""
        flags = [f"--output={os.fspath(path)}", *_binary.flags(options)]
        if format is not None:
            flags.append(f"--format={format}")
        if self._db:
            flags.append(f"--db={self._db}")
        _binary.run_json("export", [self.id], flags)

    def __repr__(self) -> str:
        return f"<deem.Run {self.id}: {self._words()}>"

    def _words(self) -> str:
        if self.score is None:
            return f"score withheld, {self.unjudged} of {self.items} items unjudged"
        words = f"{100 * self.score:.1f}%"
        if self.interval is not None:
            words += f" [{100 * self.interval.low:.1f}, {100 * self.interval.high:.1f}]"
        words += f", {self.items} items"
        if self.undecided:
            words += f", {self.undecided} undecided"
        return f"{words}, {self.unjudged} unjudged"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td style='text-align:right'>{'-' if score is None else f'{100 * score:.1f}%'}</td></tr>"
            for name, score in self.categories.items()
        )
        table = f"<table><tr><th>category</th><th>score</th></tr>{rows}</table>" if rows else ""
        return f"<div><b>{escape(self._words())}</b><br>judge {escape(self.judge)}, run {escape(self.id)}{table}</div>"


@overload
def judge(
    items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, progress: Optional[bool] = None, **options: Unpack[RunOptions]
) -> Run: ...


@overload
def judge(
    items: Any, judge: Union[List[Any], Tuple[Any, ...]], model: Optional[str] = None, progress: Optional[bool] = None, **options: Unpack[RunOptions]
) -> List[Run]: ...


def judge(
    items: Any,
    judge: Union[None, Judge, List[Any], Tuple[Any, ...]] = None,
    model: Optional[str] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> Union[Run, List[Run]]:
    """Judge items and return the run, or a list of runs for a list of judges.

    ``items`` are dicts or dataclasses with ``question``, ``references`` and ``response``
    (the names that files may use work too), a pandas or polars data frame, a Hugging Face
    dataset, or the path of a file. ``judge`` is a name (``deem list judges``), a YAML file,
    or a Python function that takes an item and returns a bool, a score from 0 to 1, a
    label (yes or no), or a dict with label, score and reason. Other options are the flags of ``deem
    run``: ``max_cost=5.0``, ``concurrency=32``, ``map={"response": "output"}``.

    Each verdict is saved at once. After an interruption the same call resumes. ``progress``
    shows how far the run is; in a notebook that is the default.
    """
    if isinstance(judge, (list, tuple)):
        if not _is_path(items) and not hasattr(items, "columns"):
            items = list(_rows(items))
        return [_judge_once(items, one, model, progress, options) for one in judge]
    return _judge_once(items, judge, model, progress, options)


def _judge_once(items: Any, judge: Optional[Judge], model: Optional[str], progress: Optional[bool], options: Dict[str, Any]) -> Run:
    reports: List[Dict[str, Any]] = []
    records = list(progress_of(_events(items, judge, model, options, reports), items, progress))
    return Run(reports[-1], _in_order(records), options.get("db"))


def _is_path(items: Any) -> bool:
    return isinstance(items, (str, bytes)) or hasattr(items, "__fspath__")


def stream(items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> Iterator[Record]:
    """Judge items and yield each record as soon as it exists."""
    return _events(items, judge, model, dict(options), [])


async def ajudge(items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]) -> Run:
    """Do what :func:`judge` does, without blocking the event loop."""
    reports: List[Dict[str, Any]] = []
    records = [r async for r in _aevents(items, judge, model, dict(options), reports)]
    return Run(reports[-1], _in_order(records), options.get("db"))


async def astream(
    items: Any, judge: Optional[Judge] = None, model: Optional[str] = None, **options: Unpack[RunOptions]
) -> AsyncIterator[Record]:
    """Do what :func:`stream` does, without blocking the event loop."""
    async for record in _aevents(items, judge, model, dict(options), []):
        yield record


def _in_order(records: List[Record]) -> List[Record]:
    """Return the records in the order of the items. An item that was judged again counts once."""
    last = {(r.position, r.trial): r for r in records}
    return [last[key] for key in sorted(last)]


async def _aevents(
    items: Any, judge: Optional[Judge], model: Optional[str], options: Dict[str, Any], reports: List[Dict[str, Any]]
) -> AsyncIterator[Record]:
    loop = asyncio.get_running_loop()
    events = _events(items, judge, model, options, reports)
    done = object()
    try:
        while True:
            record = await loop.run_in_executor(None, next, events, done)
            if record is done:
                return
            yield cast(Record, record)
    finally:
        cast(Any, events).close()


def _events(
    items: Any, judge: Optional[Judge], model: Optional[str], options: Dict[str, Any], reports: List[Dict[str, Any]]
) -> Iterator[Record]:
    """Run the program with --stream, yield its records and keep its report."""
    options = dict(options)
    benchmark = options.pop("benchmark", None)
    flags = ["--stream", *_binary.flags(options)]
    server = judge_flags(judge, model, flags)
    lines: Optional[Iterator[bytes]] = None
    if _is_path(items):
        flags.append(f"--data={items!s}")
    else:
        flags.extend(["--data=-", "--format=jsonl"])
        lines = _lines(items)
    process = _binary.start(
        _binary.arguments("run", [benchmark] if benchmark else [], flags),
        stdin=subprocess.PIPE if lines is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    feeder = _Feeder(process, lines)
    stderr = _Tail(process)
    finished = False
    failed: Optional[DeemError] = None
    try:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "record":
                yield Record.from_json(event["record"])
            elif event["event"] == "report":
                reports.append(event["report"])
            elif event["event"] == "error":
                failed = from_exit(event.get("exit", 1), event["error"], event.get("hint"))
        finished = True
    except KeyboardInterrupt:
        _binary.interrupt(process)
        _drain(process)
        raise Interrupted("interrupted: what was judged is kept", "the same call resumes") from None
    finally:
        if not finished:
            _binary.interrupt(process)
            _drain(process)
        code = process.wait()
        feeder.join()
        err = stderr.join()
        if server is not None:
            server.close()
    if feeder.error is not None:
        raise feeder.error
    if server is not None and server.error is not None and server.judged == 0:
        raise InputError(
            f"the judge gave no verdict on any item: {type(server.error).__name__}: {server.error}",
            "nothing is judged; mend the function and call again",
        ) from server.error
    if failed is not None and not (code == 3 and reports):
        raise failed
    if code not in (0, 3) and not reports:
        raise _binary.error_of(code, b"", err)


def judge_flags(judge: Optional[Judge], model: Optional[str], flags: List[str]) -> Optional[Server]:
    """Add the flags of a judge and its model. A function is served until the caller closes its server."""
    server = None
    if callable(judge):
        server = serve(judge)
        flags.append(f"--judge={server.url}")
    elif judge is not None:
        flags.append(f"--judge={judge}")
    if model is not None:
        flags.append(f"--model={model}")
    return server


def _drain(process: "subprocess.Popen[bytes]") -> None:
    """Read what the program still writes, so that it can end."""
    assert process.stdout is not None
    try:
        while process.stdout.read(1 << 16):
            pass
    except (OSError, ValueError):
        pass


class _Feeder:
    """Writes the items to the program's standard input, in a thread."""

    def __init__(self, process: "subprocess.Popen[bytes]", lines: Optional[Iterator[bytes]]) -> None:
        self.error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._feed, args=(process, lines), daemon=True)
        if lines is not None:
            self._thread.start()

    def _feed(self, process: "subprocess.Popen[bytes]", lines: Iterator[bytes]) -> None:
        assert process.stdin is not None
        try:
            for line in lines:
                process.stdin.write(line)
        except BrokenPipeError:
            pass  # The program says why.
        except BaseException as error:  # Of the user's own iterator.
            self.error = error
            _binary.interrupt(process)
        finally:
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass

    def join(self) -> None:
        if self._thread.ident is not None:
            self._thread.join()


class _Tail:
    """Keeps what the program writes to standard error, in a thread."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self._text = (self._text + line)[-1 << 16 :]

    def join(self) -> bytes:
        self._thread.join()
        return self._text


def _lines(items: Any) -> Iterator[bytes]:
    for n, item in enumerate(_rows(items)):
        row = _row(item, n)
        row.setdefault("id", str(n))
        yield json.dumps(row, ensure_ascii=False, allow_nan=False, default=_plain).encode() + b"\n"


def _rows(items: Any) -> Iterable[Any]:
    if hasattr(items, "to_dicts"):  # polars
        return cast(Iterable[Any], items.to_dicts())
    if hasattr(items, "to_dict") and hasattr(items, "columns"):  # pandas
        rows = items.to_dict(orient="records")
        return [{k: v for k, v in row.items() if not _missing(v)} for row in rows]
    if isinstance(items, Mapping):
        raise InputError("items is one dict", "give a list of dicts: deem.judge([item])")
    try:
        return cast(Iterable[Any], iter(items))  # a list, a generator, or a Hugging Face dataset
    except TypeError:
        raise InputError(f"cannot read items from {type(items).__name__}", "give a list of dicts or a data frame") from None


def _row(item: Any, n: int) -> Dict[str, Any]:
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {k: v for k, v in dataclasses.asdict(item).items() if v is not None}
    if isinstance(item, Mapping):
        return dict(item)
    raise InputError(f"item {n} is of type {type(item).__name__}", "an item is a dict or a dataclass")


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _plain(value: Any) -> Any:
    """Return a value of numpy and the like as plain Python."""
    for name in ("tolist", "item", "isoformat"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    raise InputError(f"cannot write a value of type {type(value).__name__} as JSON")


def _export(run: str, db: Optional[str]) -> Iterator[Record]:
    args = _binary.arguments("report", [run], ["--stream", *([f"--db={db}"] if db else [])])
    process = _binary.start(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    if process.returncode not in (0, 3):
        raise _binary.error_of(process.returncode, out, err)
    for line in out.splitlines():
        event = json.loads(line)
        if event["event"] == "record":
            yield Record.from_json(event["record"])
