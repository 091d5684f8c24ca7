#!/usr/bin/env python3
"""Builds Python wheels and npm packages that carry the deem binary.

    scripts/packages.py --version 0.1.0 --out dist linux-amd64=path/to/deem [darwin-arm64=...]

One wheel and one npm package for each platform, and the npm package "deem" that picks the
right one. It needs Python alone, downloads nothing, and the same input gives the same bytes.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = os.path.join(ROOT, "python", "src")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold

# Our name of a platform, and what wheels and npm call it. The binaries are static, so one
# Linux wheel serves glibc and musl.
PLATFORMS = {
    "linux-amd64": ("manylinux2014_x86_64.musllinux_1_1_x86_64", "linux", "x64"),
    "linux-arm64": ("manylinux2014_aarch64.musllinux_1_1_aarch64", "linux", "arm64"),
    "darwin-amd64": ("macosx_11_0_x86_64", "darwin", "x64"),
    "darwin-arm64": ("macosx_11_0_arm64", "darwin", "arm64"),
    "windows-amd64": ("win_amd64", "win32", "x64"),
    "windows-arm64": ("win_arm64", "win32", "arm64"),
}


def wheel(out, version, platform, binary):
    tag, exe = PLATFORMS[platform][0], "deem.exe" if platform.startswith("windows") else "deem"
    name = f"deem-{version}"
    info = f"{name}.dist-info"
    with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as f:
        licence = f.read()
    with open(os.path.join(ROOT, "python", "README.md"), encoding="utf-8") as f:
        readme = f.read()
    files = []
    for folder, _, names in sorted(os.walk(os.path.join(PYTHON, "deem"))):
        for file in sorted(names):
            if file.endswith(".py") or file == "py.typed":
                path = os.path.join(folder, file)
                with open(path, "rb") as f:
                    text = f.read()
                if file == "__init__.py":
                    text = text.replace(b'__version__ = "0.0.0"', f'__version__ = "{version}"'.encode())
                files.append((os.path.relpath(path, PYTHON).replace(os.sep, "/"), text, 0o644))
    with open(binary, "rb") as f:
        files.append((f"deem/bin/{exe}", f.read(), 0o755))
    metadata = (
        "Metadata-Version: 2.1\n"
        "Name: deem\n"
        f"Version: {version}\n"
        "Summary: LLM-as-judge evaluation with confidence intervals\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.8\n"
        "Classifier: Framework :: Pytest\n"
        "Classifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n\n" + readme
    )
    tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    files += [
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: deem\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        (f"{info}/entry_points.txt", b"[console_scripts]\ndeem = deem._binary:main\n\n[pytest11]\ndeem = deem.pytest_plugin\n", 0o644),
        (f"{info}/LICENSE", licence.encode(), 0o644),
    ]
    record = ""
    for path, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    target = os.path.join(out, f"{name}-py3-none-{tag}.whl")
    with zipfile.ZipFile(target, "w") as z:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            z.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return target


def npm(out, name, package, files):
    """Write an npm package: a gzipped tar whose files are under package/."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        entries = [("package.json", json.dumps(package, indent=2).encode() + b"\n", 0o644), *files]
        for path, text, mode in entries:
            entry = tarfile.TarInfo("package/" + path)
            entry.size, entry.mode, entry.mtime = len(text), mode, 0
            tar.addfile(entry, io.BytesIO(text))
    target = os.path.join(out, f"{name}-{package['version']}.tgz")
    with open(target, "wb") as f, gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=f, mtime=0) as z:
        z.write(data.getvalue())
    return target


LAUNCHER = """#!/usr/bin/env node
// Starts the deem binary that the package for this platform carries.
const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`deem-${platform}/bin/deem${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`deem: error: there is no package deem-${platform}`);
  console.error("deem: hint: install optional dependencies too, or use another way to install deem");
  process.exit(1);
}
const done = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (done.error) throw done.error;
if (done.signal) process.kill(process.pid, done.signal);
process.exit(done.status);
"""


def npm_packages(out, version, binaries):
    common = {"version": version, "license": "Apache-2.0"}
    made, names = [], {}
    for platform, binary in binaries.items():
        _, system, cpu = PLATFORMS[platform]
        name = f"deem-{system}-{cpu}"
        names[name] = version
        exe = "deem.exe" if system == "win32" else "deem"
        with open(binary, "rb") as f:
            files = [(f"bin/{exe}", f.read(), 0o755)]
        about = {"name": name, **common, "description": f"the deem binary for {system} on {cpu}", "os": [system], "cpu": [cpu]}
        made.append(npm(out, name, about, files))
    about = {
        "name": "deem",
        **common,
        "description": "LLM-as-judge evaluation with confidence intervals",
        "bin": {"deem": "bin/deem.js"},
        "optionalDependencies": names,
    }
    made.append(npm(out, "deem", about, [("bin/deem.js", LAUNCHER.encode(), 0o755)]))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", default="dist")
    parser.add_argument("binary", nargs="+", help="PLATFORM=FILE, as linux-amd64=bin/deem")
    args = parser.parse_args()
    version = args.version.removeprefix("v") if hasattr(str, "removeprefix") else args.version.lstrip("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", version):
        sys.exit(f"packages: error: {args.version} is not a version such as 0.1.0 or 0.1.0rc1")
    binaries = {}
    for pair in args.binary:
        platform, _, file = pair.partition("=")
        if platform not in PLATFORMS or not os.path.isfile(file):
            sys.exit(f"packages: error: {pair}: want PLATFORM=FILE with one of {', '.join(PLATFORMS)}")
        binaries[platform] = file
    os.makedirs(args.out, exist_ok=True)
    for platform, binary in binaries.items():
        print(wheel(args.out, version, platform, binary))
    for target in npm_packages(args.out, version, binaries):
        print(target)


if __name__ == "__main__":
    main()
