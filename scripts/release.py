#!/usr/bin/env python3
"""Builds a release of deem. `make release` calls it.

    scripts/release.py --out dist                       for six platforms
    scripts/release.py --out dist --only linux-amd64    for one

For each platform: an archive with the binary, its manual, completions and all licences, a
wheel and an npm package; for Linux a .deb and a .rpm too. For all together: a Homebrew
formula, the list of parts (CycloneDX), SHA256SUMS, and SHA256SUMS.sig when DEEM_SIGNING_KEY
names an SSH key. It needs Go, git and Python, and the same commit gives the same bytes:
binaries hold no path, and packages no time but that of the commit.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

import packages

ROOT = packages.ROOT
LICENCES = [  # A phrase that only the text of this licence has.
    ("Apache-2.0", "Apache License Version 2.0"),
    ("MPL-2.0", "Mozilla Public License Version 2.0"),
    ("BSD-3-Clause", "endorse or promote products derived from"),
    ("BSD-2-Clause", "Redistributions in binary form must reproduce"),
    ("MIT", "Permission is hereby granted, free of charge"),
    ("ISC", "Permission to use, copy, modify, and/or distribute"),
    ("Unlicense", "This is free and unencumbered software"),
]


def output(*command, **more):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, **more).stdout.strip()


def git(*args):
    """What git says, "" where it says nothing, as outside of a repository."""
    done = subprocess.run(["git", *args], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def published():
    """The addresses in publish.env, "" where nobody set them."""
    with open(os.path.join(ROOT, "publish.env"), encoding="utf-8") as f:
        found = dict(re.findall(r'^(DEEM_\w+)="(.*)"', f.read(), re.M))
    return {name: os.environ.get(name, value) for name, value in found.items()}


def compile(version, date, platform, to):
    system, arch = platform.split("-")
    module = output("go", "list", "-m")
    stamp = {"Version": version, "Commit": git("rev-parse", "HEAD"), "Date": date}
    flags = "-s -w -buildid= " + " ".join(f"-X {module}/internal/cli.{name}={value}" for name, value in stamp.items())
    env = dict(os.environ, CGO_ENABLED="0", GOOS=system, GOARCH=arch, GOFLAGS="-buildvcs=false", GOWORK="off", GOAMD64="v1", GOARM64="v8.0", GOGC="400")
    output("go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", flags, "-o", to, "./cmd/deem", env=env)


def parts(binaries):
    """The modules in the binaries, each with path, version, sum, licence and licence files."""
    found = {}
    for binary in binaries.values():
        for line in output("go", "version", "-m", binary).splitlines():
            fields = line.split()
            if fields[0] in ("dep", "=>"):
                found[fields[1]] = fields[1:4]
    cache = output("go", "env", "GOMODCACHE")
    list_ = []
    for path, version, digest in sorted(found.values()):
        folder = os.path.join(cache, re.sub("[A-Z]", lambda m: "!" + m.group().lower(), path) + "@" + version)
        list_.append(part(path, version, digest, folder))
    return [*list_, part("std", output("go", "env", "GOVERSION")[2:], "", output("go", "env", "GOROOT"))]


def part(path, version, digest, folder):
    texts = []
    for name in sorted(os.listdir(folder)):
        if re.match(r"(UN)?LICEN[SC]E|COPYING|NOTICE|.*-LICENSE$", name.upper()) and os.path.isfile(os.path.join(folder, name)):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                texts.append((name, f.read()))
    known = [spdx for _, text in texts for spdx, phrase in LICENCES if phrase in " ".join(text.split())]
    if not known:
        sys.exit(f"release: error: {path} {version} has no licence that we know, so it cannot be shipped")
    return {"path": path, "version": version, "sum": digest, "licence": known[0], "texts": texts}


def licence_files(modules):
    """Files of all licences: of modules, and of the data of others in our sources."""
    lines = "".join(f"{m['licence']:<12}  {m['path']} {m['version']}\n" for m in modules)
    files = [("licenses/LIST", lines.encode(), 0o644)]
    files += [(f"licenses/{m['path']}/{name}", text.encode(), 0o644) for m in modules for name, text in m["texts"]]
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("bin", "dist"))
        if "LICENSE" in names and folder != ROOT:
            path = os.path.relpath(os.path.join(folder, "LICENSE"), ROOT).replace(os.sep, "/")
            files.append((f"licenses/deem/{path}", packages.read(path), 0o644))
    return files


def printed(binary):
    """The manual pages and completions, which deem prints itself."""
    files = []
    with tempfile.TemporaryDirectory() as folder:
        output(binary, "man", folder)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                files.append((f"man/{name}", f.read(), 0o644))
    for shell in ("bash", "zsh", "fish", "powershell"):
        files.append((f"completions/deem.{shell}", output(binary, "completion", shell).encode() + b"\n", 0o644))
    return files


def sbom(modules, version, date):
    def component(kind, path, version, licence):
        purl = f"pkg:golang/{path}@{version}"
        return {"type": kind, "bom-ref": purl, "name": path, "version": version, "purl": purl, "licenses": [{"license": {"id": licence}}]}

    components = []
    for m in modules:
        one = component("library", m["path"], m["version"], m["licence"])
        if m["sum"]:  # The standard library has none.
            one["properties"] = [{"name": "go:sum", "value": m["sum"]}]
        components.append(one)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "serialNumber": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([version, components]))),
        "metadata": {"timestamp": date, "component": component("application", "deem", version, "Apache-2.0")},
        "components": components,
    }


def formula(version, sums, homepage, downloads):
    """A Homebrew formula for the archives of macOS and Linux."""
    text = f"""class Deem < Formula
  desc "LLM-as-judge evaluation with confidence intervals"
  homepage "{homepage or downloads}"
  version "{version}"
  license "Apache-2.0"
"""
    for brew, system in (("macos", "darwin"), ("linux", "linux")):
        archives = [(b, f"deem-{version}-{system}-{a}.tar.gz") for b, a in (("arm", "arm64"), ("intel", "amd64"))]
        archives = [(b, name) for b, name in archives if name in sums]
        if archives:
            text += f"\n  on_{brew} do\n"
            for b, name in archives:
                text += f'    on_{b} do\n      url "{downloads}/{name}"\n      sha256 "{sums[name]}"\n    end\n'
            text += "  end\n"
    return (
        text
        + """
  def install
    bin.install "deem"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/deem.bash" => "deem"
    zsh_completion.install "completions/deem.zsh" => "_deem"
    fish_completion.install "completions/deem.fish"
  end

  test do
    assert_match "score", shell_output("#{bin}/deem demo")
  end
end
"""
    )


def system_files(files):
    """Where the files of an archive go in a Linux system."""
    for path, data, mode in files:
        name = os.path.basename(path)
        if path == "deem":
            yield "usr/bin/deem", data, mode
        elif path.startswith("man/"):
            yield f"usr/share/man/man1/{name}.gz", gzip.compress(data, mtime=0), mode
        elif name == "deem.bash":
            yield "usr/share/bash-completion/completions/deem", data, mode
        elif name == "deem.zsh":
            yield "usr/share/zsh/vendor-completions/_deem", data, mode
        elif name == "deem.fish":
            yield "usr/share/fish/vendor_completions.d/deem.fish", data, mode
        elif path == "LICENSE":
            yield "usr/share/doc/deem/copyright", data, mode
        elif path == "NOTICE" or path.startswith("licenses/"):
            yield f"usr/share/doc/deem/{path}", data, mode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", help="as v0.1.0 or v0.1.0rc1; what git describe says unless given")
    parser.add_argument("--out", default="dist")
    parser.add_argument("--only", action="append", choices=list(packages.PLATFORMS), help="build for this platform alone")
    args = parser.parse_args()
    stamped = args.version or git("describe", "--tags", "--always", "--dirty") or "dev"
    version = stamped.lstrip("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", version):
        if args.version:
            sys.exit(f"release: error: {args.version} is not a version such as v0.1.0 or v0.1.0rc1")
        version = f"0.0.0.dev{git('rev-list', '--count', 'HEAD') or 0}"  # between tags
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 315532800)
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    address = published()
    # Where nobody publishes, packages refer to each other in the folder that they are in.
    downloads = (address["DEEM_DOWNLOADS"] or "file://" + os.path.abspath(args.out)).replace("{version}", version).rstrip("/")
    shutil.rmtree(args.out, ignore_errors=True)
    os.makedirs(args.out)
    with tempfile.TemporaryDirectory() as scratch:
        host = output("go", "env", "GOHOSTOS", "GOHOSTARCH").replace("\n", "-")
        binaries = {}
        for platform in args.only or packages.PLATFORMS:
            binaries[platform] = os.path.join(scratch, platform)
            compile(stamped, date, platform, binaries[platform])
        own = binaries.get(host) or os.path.join(scratch, "own")
        if host not in binaries:
            compile(stamped, date, host, own)
        modules = parts(binaries)
        extras = [(name, packages.read(name), 0o644) for name in ("LICENSE", "NOTICE", "README.md")]
        licences = licence_files(modules)
        extras = sorted(extras + printed(own) + licences)
        for platform, binary in binaries.items():
            with open(binary, "rb") as f:
                body = f.read()
            exe = "deem.exe" if platform.startswith("windows") else "deem"
            files = [(exe, body, 0o755), *extras]
            packages.archive(args.out, f"deem-{version}-{platform}", files, epoch, platform.startswith("windows"))
            if platform.startswith("linux"):
                packages.deb(args.out, version, platform, list(system_files(files)), epoch, address)
                packages.rpm(args.out, version, platform, list(system_files(files)), epoch, address)
            packages.wheel(args.out, version, platform, (exe, body), licences)
            packages.npm_platform(args.out, version, platform, (exe, body), licences)
    packages.npm_main(args.out, version, binaries, downloads)
    with open(os.path.join(args.out, "deem.cdx.json"), "w", encoding="utf-8") as f:
        f.write(json.dumps(sbom(modules, version, date), indent=2) + "\n")
    sums = {}
    for name in sorted(os.listdir(args.out)):
        with open(os.path.join(args.out, name), "rb") as f:
            sums[name] = hashlib.sha256(f.read()).hexdigest()
    text = formula(version, sums, address["DEEM_HOMEPAGE"], downloads)
    sums["deem.rb"] = hashlib.sha256(text.encode()).hexdigest()
    with open(os.path.join(args.out, "deem.rb"), "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(args.out, "SHA256SUMS"), "w", encoding="utf-8") as f:
        f.write("".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
    if key := os.environ.get("DEEM_SIGNING_KEY"):
        output("ssh-keygen", "-q", "-Y", "sign", "-n", "deem-release", "-f", os.path.abspath(key), os.path.abspath(os.path.join(args.out, "SHA256SUMS")))
    else:
        print("release: SHA256SUMS is not signed: DEEM_SIGNING_KEY names no SSH key", file=sys.stderr)
    for name in sorted(os.listdir(args.out)):
        print(os.path.join(args.out, name))


if __name__ == "__main__":
    main()
