"""Judges that are Python functions: deem asks them over HTTP on this machine."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Optional, Tuple, Union

from ._errors import InputError

Answer = Union[bool, float, int, str, Tuple[Any, str], Dict[str, Any]]
# The labels whose score deem knows.
LABELS = ("yes", "correct", "right", "pass", "true", "no", "incorrect", "wrong", "fail", "false")

Grader = Callable[[Dict[str, Any]], Answer]


class Server:
    """A server for one function, on the loopback address."""

    def __init__(self, function: Grader) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        hello = {"deem": 1, "kind": "judge", "name": "python:" + name, "version": version(function)}
        if inspect.iscoroutinefunction(function):
            raise InputError(f"the judge {name} is an async function", "give a function that is not async: it is called in a thread")
        self.error: Optional[BaseException] = None  # the first exception of the function, or about its first unusable answer
        self.judged = 0  # answers that deem can read
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, function, hello))
        self._http.daemon_threads = True
        safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/{safe}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def serve(function: Grader) -> Server:
    return Server(function)


def version(function: Grader) -> str:
    """Return the function's own version, or the hash of its source."""
    own = getattr(function, "version", None)
    if isinstance(own, str):
        return own
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        source = repr((code.co_code, code.co_consts)) if code else repr(type(function))
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def verdict(answer: Answer) -> Dict[str, Any]:
    """Return what a function returned as the object that deem reads. A wrong answer is an error."""
    reason = None
    if isinstance(answer, tuple):
        answer, reason = answer
    if isinstance(answer, dict):
        out = dict(answer)
    elif isinstance(answer, bool):
        out = {"pass": answer}
    elif isinstance(answer, (int, float)):
        out = {"score": float(answer)}
        if not 0 <= out["score"] <= 1:
            raise ValueError(f"the function returned the score {answer}, which is not between 0 and 1")
    elif isinstance(answer, str):
        out = {"label": answer}
        if answer.lower() not in LABELS:
            raise ValueError(
                f'the function returned the label "{answer}", whose score is not known: return "yes" or "no", or a dict with label and score'
            )
    else:
        raise TypeError(f"the function returned {type(answer).__name__}, not a bool, a number, a label or a dict")
    if reason is not None:
        out.setdefault("reason", reason)
    return out


def _handler(server: Server, function: Grader, hello: Dict[str, Any]) -> type:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(hello)

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                out = verdict(function(request["item"]))
                server.judged += 1
            except Exception as error:
                server.error = server.error or error
                out = {"failure": {"kind": "provider", "detail": f"{type(error).__name__}: {error}"}}
            self._send(out)

        def _send(self, data: Dict[str, Any]) -> None:
            body = json.dumps(data, default=str).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
