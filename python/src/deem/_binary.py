"""Finding and starting the deem program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence

from ._errors import DeemError, from_exit


def find() -> str:
    """Return the path of the program: $DEEM_BINARY, the one in this package, or one on PATH."""
    named = os.environ.get("DEEM_BINARY")
    if named:
        return named
    name = "deem.exe" if sys.platform == "win32" else "deem"
    inside = Path(__file__).parent / "bin" / name
    if inside.exists():
        return str(inside)
    # The script that pip installs is this package again, so it is passed over.
    scripts = Path(sys.executable).parent
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = shutil.which(name, path=folder)
        if path and Path(path).parent != scripts:
            return path
    raise DeemError(
        "the deem program is not installed",
        "install the wheel for your platform, or set DEEM_BINARY to the path of the program",
    )


def main() -> None:
    """Be the command ``deem``."""
    binary = find()
    if sys.platform == "win32":
        sys.exit(subprocess.call([binary, *sys.argv[1:]]))
    os.execv(binary, [binary, *sys.argv[1:]])


def start(args: Sequence[str], **more: Any) -> "subprocess.Popen[bytes]":
    """Start the program in a session of its own, so that Ctrl-C reaches this process alone."""
    if sys.platform == "win32":
        more["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
    else:
        more["start_new_session"] = True
    return subprocess.Popen([find(), *args], **more)


def interrupt(process: "subprocess.Popen[bytes]") -> None:
    """Ask the program to stop gently: calls in flight finish and are kept."""
    if process.poll() is None:
        process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))


def arguments(command: str, names: Sequence[str], flags: Sequence[str] = ()) -> List[str]:
    """Return the arguments of a command. Names follow "--", so none of them is taken for a flag."""
    return [command, *flags, "--", *names]


def run_json(
    command: str,
    names: Sequence[str],
    flags: Sequence[str] = (),
    *,
    allow: Sequence[int] = (0,),
    input: Optional[bytes] = None,
) -> Any:
    """Run a command with --json and return what it printed."""
    process = start(
        arguments(command, names, [*flags, "--json"]),
        stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = process.communicate(input)
    except KeyboardInterrupt:
        interrupt(process)
        process.communicate()
        raise
    if process.returncode not in allow:
        raise error_of(process.returncode, out, err)
    return json.loads(out) if out.strip() else None


def error_of(code: int, out: bytes, err: bytes) -> DeemError:
    """Return the error that a command printed: as JSON, or as lines for people."""
    for text in (err, out):
        try:
            data = json.loads(text)
        except ValueError:
            continue
        if isinstance(data, dict) and "error" in data:
            return from_exit(code, str(data["error"]), data.get("hint"))
    message: List[str] = []
    hint = None
    for line in err.decode("utf-8", "replace").splitlines():
        if line.startswith("deem: error: "):
            message.append(line[len("deem: error: ") :])
        elif line.startswith("deem: hint: "):
            hint = line[len("deem: hint: ") :]
    return from_exit(code, "\n".join(message) or f"deem ended with exit code {code}", hint)


def flags(options: Mapping[str, Any]) -> List[str]:
    """Turn options into flags: max_cost=5 is --max-cost=5, pass_=0.5 is --pass=0.5, True is the flag alone."""
    args: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            args.append(flag)
        elif isinstance(value, Mapping):
            joined = [f"{k}={v}" for k, v in value.items()]
            if name == "map":
                args.append(f"{flag}={','.join(joined)}")
            else:
                args.extend(f"{flag}={pair}" for pair in joined)
        elif isinstance(value, (list, tuple)):
            args.extend(f"{flag}={v}" for v in value)
        elif isinstance(value, float):
            args.append(f"{flag}={value:.12f}".rstrip("0").rstrip("."))
        else:
            args.append(f"{flag}={value}")
    return args
