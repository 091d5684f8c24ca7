"""Writes the files of a release: archives, wheels, npm packages, .deb and .rpm.

They are written with Python's own library alone, nothing is downloaded, and the same input
gives the same bytes. scripts/release.py builds the binaries and calls this.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = os.path.join(ROOT, "python", "src")
ABOUT = "LLM-as-judge evaluation with confidence intervals"

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


def read(name):
    with open(os.path.join(ROOT, name), "rb") as f:
        return f.read()


def tar(files, epoch, folders=()):
    """A gzipped tar of files, which are (path, data, mode)."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as t:
        for path in folders:
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, epoch
            entry.uname = entry.gname = "root"
            t.addfile(entry)
        for path, text, mode in files:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(text), mode, epoch
            entry.uname = entry.gname = "root"
            t.addfile(entry, io.BytesIO(text))
    return gzip.compress(data.getvalue(), 6, mtime=0)


def zipped(out, name, files, date=(1980, 1, 1, 0, 0, 0)):
    """Write a zip of files."""
    with zipfile.ZipFile(os.path.join(out, name), "w") as z:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            z.writestr(entry, data, zipfile.ZIP_DEFLATED)


def write(out, name, data):
    with open(os.path.join(out, name), "wb") as f:
        f.write(data)


def archive(out, name, files, epoch, windows):
    """Write an archive: a zip for Windows, a gzipped tar for the others."""
    files = [(f"{name}/{path}", data, mode) for path, data, mode in files]
    if windows:
        zipped(out, name + ".zip", files)
    else:
        write(out, name + ".tar.gz", tar(files, epoch))


def wheel(out, version, platform, binary, licences):
    tag = PLATFORMS[platform][0]
    name = f"deem-{version}"
    info = f"{name}.dist-info"
    files = []
    for folder, _, names in sorted(os.walk(os.path.join(PYTHON, "deem"))):
        for file in sorted(names):
            if file.endswith(".py") or file in ("py.typed", "SKILL.md"):
                path = os.path.join(folder, file)
                text = read(path)
                if file == "__init__.py":
                    text = text.replace(b'__version__ = "0.0.0"', f'__version__ = "{version}"'.encode())
                files.append((os.path.relpath(path, PYTHON).replace(os.sep, "/"), text, 0o644))
    files.append((f"deem/bin/{binary[0]}", binary[1], 0o755))
    metadata = (
        "Metadata-Version: 2.1\n"
        "Name: deem\n"
        f"Version: {version}\n"
        f"Summary: {ABOUT}\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.8\n"
        "Classifier: Framework :: Pytest\n"
        "Classifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n\n"
    ).encode() + read("python/README.md")
    tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    files += [
        (f"{info}/METADATA", metadata, 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: deem\nRoot-Is-Purelib: false\n{tags}".encode(), 0o644),
        (f"{info}/entry_points.txt", b"[console_scripts]\ndeem = deem._binary:main\n\n[pytest11]\ndeem = deem.pytest_plugin\n", 0o644),
        (f"{info}/LICENSE", read("LICENSE"), 0o644),
        *((f"{info}/{path}", data, mode) for path, data, mode in licences),
    ]
    record = ""
    for path, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    zipped(out, f"{name}-py3-none-{tag}.whl", files)


def npm(out, name, package, files):
    """Write an npm package: a gzipped tar whose files are under package/."""
    files = [("package.json", json.dumps(package, indent=2).encode() + b"\n", 0o644), *files]
    write(out, f"{name}-{package['version']}.tgz", tar([("package/" + path, text, mode) for path, text, mode in files], 0))


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


def before(version, mark):
    """A version such as 0.1.0rc1 as other registries spell it, with a mark before rc1."""
    for kind in (".dev", "rc", "b", "a"):
        if kind in version:
            base, number = version.split(kind)
            return f"{base}{mark}{kind.lstrip('.')}{'.' if mark == '-' else ''}{number}"
    return version


def npm_platform(out, version, platform, binary, licences):
    _, system, cpu = PLATFORMS[platform]
    name = f"deem-{system}-{cpu}"
    about = {"name": name, "version": before(version, "-"), "license": "Apache-2.0", "description": f"the deem binary for {system} on {cpu}", "os": [system], "cpu": [cpu]}
    npm(out, name, about, [(f"bin/{binary[0]}", binary[1], 0o755), ("LICENSE", read("LICENSE"), 0o644), *licences])


def npm_main(out, version, platforms, address):
    """Write the package "deem", which has one optional dependency for each platform, at the
    address where the release is. In the registry anybody could own their names."""
    version = before(version, "-")
    names = [f"deem-{PLATFORMS[p][1]}-{PLATFORMS[p][2]}" for p in platforms]
    about = {
        "name": "deem",
        "version": version,
        "license": "Apache-2.0",
        "description": ABOUT,
        "bin": {"deem": "bin/deem.js"},
        "optionalDependencies": {name: f"{address}/{name}-{version}.tgz" for name in names},
    }
    npm(out, "deem", about, [("bin/deem.js", LAUNCHER.encode(), 0o755), ("SKILL.md", read("python/src/deem/SKILL.md"), 0o644)])


def folders_of(files):
    """The folders of the files, parents first."""
    found = set()
    for path, _, _ in files:
        while path := os.path.dirname(path):
            found.add(path)
    return sorted(found)


def deb(out, version, platform, files, epoch, address):
    """Write a Debian package: an ar archive of a control and a data archive."""
    arch, version = platform.split("-")[1], before(version, "~")
    control = (
        f"Package: deem\nVersion: {version}\nArchitecture: {arch}\nMaintainer: {address['DEEM_CONTACT'] or 'nobody publishes deem yet'}\n"
        f"Installed-Size: {sum(len(data) for _, data, _ in files) // 1024}\nSection: utils\nPriority: optional\nDescription: {ABOUT}\n"
    )
    sums = "".join(f"{hashlib.md5(data).hexdigest()}  {path}\n" for path, data, _ in files)
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", tar([("./control", control.encode(), 0o644), ("./md5sums", sums.encode(), 0o644)], epoch)),
        ("data.tar.gz", tar([("./" + path, data, mode) for path, data, mode in files], epoch, ["./" + f for f in folders_of(files)])),
    ]
    text = b"!<arch>\n"
    for name, data in members:
        text += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    write(out, f"deem_{version}_{arch}.deb", text)


# The types of values in the headers of RPM.
INT16, INT32, STRING, BIN, STRINGS, I18N = 3, 4, 6, 7, 8, 9


def rpm_header(region, values):
    """A header of RPM: an index of tags and a store, both inside of a region tag."""
    index, store = b"", bytearray()
    for tag, (kind, value) in sorted(values.items()):
        count = len(value) if kind in (INT16, INT32, STRINGS, BIN) else 1
        if kind in (INT16, INT32):
            width, letter = (2, "H") if kind == INT16 else (4, "I")
            store += b"\0" * (-len(store) % width)
            data = struct.pack(f">{count}{letter}", *value)
        elif kind == BIN:
            data = value
        else:
            data = b"".join(text.encode() + b"\0" for text in (value if kind == STRINGS else [value]))
        index += struct.pack(">4I", tag, kind, len(store), count)
        store += data
    size = len(values) + 1
    index = struct.pack(">4I", region, BIN, len(store), 16) + index
    store += struct.pack(">2IiI", region, BIN, -16 * size, 16)
    return b"\x8e\xad\xe8\x01\0\0\0\0" + struct.pack(">2I", size, len(store)) + index + bytes(store)


def cpio(files, epoch):
    """The payload of RPM: files in the "newc" form."""
    text = bytearray()
    for i, (path, data, mode) in enumerate([*files, ("TRAILER!!!", b"", 0)], 1):
        last = path == "TRAILER!!!"
        name = (path if last else "./" + path).encode() + b"\0"
        fields = [0 if last else i, 0 if last else 0o100000 | mode, 0, 0, 1, 0 if last else epoch, len(data), 0, 0, 0, 0, len(name), 0]
        text += b"070701" + b"".join(b"%08x" % f for f in fields) + name
        text += b"\0" * (-len(text) % 4) + data
        text += b"\0" * (-len(text) % 4)
    return bytes(text)


def rpm(out, version, platform, files, epoch, address):
    """Write an RPM package: a lead, a header with digests, the header proper, and a payload."""
    version, arch = before(version, "~"), {"amd64": "x86_64", "arm64": "aarch64"}[platform.split("-")[1]]
    files = sorted(files)
    plain = cpio(files, epoch)
    payload = gzip.compress(plain, 6, mtime=0)
    folders = sorted({"/" + os.path.dirname(path) + "/" for path, _, _ in files})
    n = len(files)
    needs = [("rpmlib(CompressedFileNames)", "3.0.4-1"), ("rpmlib(FileDigests)", "4.6.0-1"), ("rpmlib(PayloadFilesHavePrefix)", "4.0-1")]
    values = {
        100: (STRINGS, ["C"]),
        1000: (STRING, "deem"),
        1001: (STRING, version),
        1002: (STRING, "1"),
        1004: (I18N, ABOUT),
        1005: (I18N, ABOUT),
        1006: (INT32, [epoch]),
        1007: (STRING, "localhost"),
        1009: (INT32, [sum(len(data) for _, data, _ in files)]),
        1014: (STRING, "Apache-2.0"),
        1016: (I18N, "Unspecified"),
        1021: (STRING, "linux"),
        1022: (STRING, arch),
        1028: (INT32, [len(data) for _, data, _ in files]),
        1030: (INT16, [0o100000 | mode for _, _, mode in files]),
        1033: (INT16, [0] * n),
        1034: (INT32, [epoch] * n),
        1035: (STRINGS, [hashlib.sha256(data).hexdigest() for _, data, _ in files]),
        1036: (STRINGS, [""] * n),
        1037: (INT32, [0] * n),
        1039: (STRINGS, ["root"] * n),
        1040: (STRINGS, ["root"] * n),
        1044: (STRING, f"deem-{version}-1.src.rpm"),
        1045: (INT32, [0xFFFFFFFF] * n),
        1047: (STRINGS, ["deem"]),
        1048: (INT32, [0x0100000A] * len(needs)),
        1049: (STRINGS, [name for name, _ in needs]),
        1050: (STRINGS, [number for _, number in needs]),
        1095: (INT32, [1] * n),
        1096: (INT32, list(range(1, n + 1))),
        1097: (STRINGS, [""] * n),
        1112: (INT32, [8]),
        1113: (STRINGS, [f"{version}-1"]),
        1116: (INT32, [folders.index("/" + os.path.dirname(path) + "/") for path, _, _ in files]),
        1117: (STRINGS, [os.path.basename(path) for path, _, _ in files]),
        1118: (STRINGS, folders),
        1124: (STRING, "cpio"),
        1125: (STRING, "gzip"),
        1126: (STRING, "6"),
        5011: (INT32, [8]),
        5062: (STRING, "utf-8"),
        5092: (STRINGS, [hashlib.sha256(payload).hexdigest()]),
        5093: (INT32, [8]),
    }
    if address["DEEM_HOMEPAGE"]:
        values[1020] = (STRING, address["DEEM_HOMEPAGE"])
    header = rpm_header(63, values)
    signature = rpm_header(
        62,
        {
            269: (STRING, hashlib.sha1(header).hexdigest()),
            273: (STRING, hashlib.sha256(header).hexdigest()),
            1000: (INT32, [len(header) + len(payload)]),
            1004: (BIN, hashlib.md5(header + payload).digest()),
            1007: (INT32, [len(plain)]),
        },
    )
    signature += b"\0" * (-len(signature) % 8)
    lead = struct.pack(">4s2B2H66s2H16x", b"\xed\xab\xee\xdb", 3, 0, 0, 1, f"deem-{version}-1".encode(), 1, 5)
    write(out, f"deem-{version}-1.{arch}.rpm", lead + signature + header + payload)
