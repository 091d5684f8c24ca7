"""How far a run is, while it is in progress."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Iterator, Optional

from ._records import Record


def progress_of(records: Iterator[Record], items: Any, shown: Optional[bool]) -> Iterator[Record]:
    """Yield the records, and show how many there are. By default only notebooks show it."""
    notebook = in_notebook()
    if not (notebook if shown is None else shown):
        yield from records
        return
    total = len(items) if hasattr(items, "__len__") and not isinstance(items, (str, bytes)) else None
    show = _Notebook() if notebook else _Terminal()
    done = unjudged = 0
    last = 0.0
    try:
        for record in records:
            done += 1
            unjudged += record.failure is not None
            if time.monotonic() - last >= 0.2:
                last = time.monotonic()
                show.write(words(done, unjudged, total))
            yield record
    finally:
        show.write(words(done, unjudged, total))
        show.end()


def words(done: int, unjudged: int, total: Optional[int]) -> str:
    of = f" of {total}" if total is not None else ""
    return f"{done}{of} items" + (f", {unjudged} without a verdict" if unjudged else "")


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Terminal:
    def write(self, text: str) -> None:
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")


class _Notebook(_Terminal):
    def __init__(self) -> None:
        self._handle: Any = importlib.import_module("IPython.display").display(words(0, 0, None), display_id=True)

    def write(self, text: str) -> None:
        self._handle.update(text)

    def end(self) -> None:
        pass
