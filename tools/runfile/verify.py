#!/usr/bin/env python3
"""Check a run file of deem as docs/spec/run-file.md specifies it, with the standard library only.

    python3 verify.py FILE... [--json]

The exit status is 0 without findings, 1 with findings, 2 if a file cannot be opened.

Checked: the bytes, the form of every line, the hash chain, the order of lines, the hashes of
items, dataset and judge, what a record may say, the counts and the mean score, and the
signature. Not checked, because it takes an implementation of every judge: that the prompts
are those that were sent (prompt, wire), that the verdicts follow from the replies (verdict),
and the intervals and tests in the report.
"""
import argparse
import hashlib
import json
import re
import sys
from base64 import b64decode, b64encode
from decimal import Decimal

import zstd  # zstd.py, in this folder

FORMAT = "deem.bundle/1"
CHECKS = ("file", "form", "chain", "order", "item", "judge", "record", "numbers", "signature")
NOT_CHECKED = ("prompt", "wire", "verdict", "intervals and tests of the report")
MAX_LINE = 256 << 20
HASH = re.compile(r"[0-9a-f]{64}\Z")
SEALED = re.compile(r"(sha256:[0-9a-f]{64})?\Z")
LINE = re.compile(rb'\{"body":(.*),"hash":"([0-9a-f]{64})","kind":"([a-z]*)","prev":"([0-9a-f]{64})"\}\Z', re.S)


class Damaged(Exception):
    """The rest of the file cannot be read."""

    def __init__(self, message, check="file", line=0):
        super().__init__(message)
        self.check, self.line = check, line


# Ed25519 (RFC 8032, section 5.1).

P, Q = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    w, x = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    y, z = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    e, f, g, h = x - w, z - y, z + y, x + w
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, a):
    out = (0, 1, 1, 0)
    while n:
        if n & 1:
            out = add(out, a)
        a, n = add(a, a), n >> 1
    return out


def point(text):
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if y >= P or (x * x - square) % P or not x and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P

BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519(key, text, signature):
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % Q
    left, right = times(s, BASE), add(r, times(h, a))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


# JSON. Numbers keep the text in which they stand.


class Number(str):
    """A number as it stands in the file."""


def unique(pairs):
    done = dict(pairs)
    if len(done) < len(pairs):
        raise ValueError("a key stands there twice")
    return done


def constant(name):
    raise ValueError(f"{name} is not a JSON number")


def parse(text):
    return json.loads(text.decode(), object_pairs_hook=unique, parse_int=Number, parse_float=Number, parse_constant=constant)

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
ESCAPED = re.compile('["\\\\\x00-\x1f\u2028\u2029]')


def canonical(v):
    if isinstance(v, Number):
        return v
    if isinstance(v, str):
        return '"' + ESCAPED.sub(lambda m: ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", v) + '"'
    if isinstance(v, list):
        return "[" + ",".join(map(canonical, v)) + "]"
    if isinstance(v, dict):
        return "{" + ",".join(canonical(k) + ":" + canonical(v[k]) for k in sorted(v)) + "}"
    return {None: "null", True: "true", False: "false"}[v]


def shortest(text):
    """Write a number as Go's encoding/json does."""
    value = float(text)
    if value == 0:
        return "-0" if text.startswith("-") else "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    digits = "".join(map(str, digits))
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    mark, e = "-" if sign else "", len(stripped) - 1 + exponent
    if 1e-6 <= abs(value) < 1e21:
        return mark + format(Decimal(stripped).scaleb(exponent), "f")
    return f"{mark}{stripped[0]}{'.' + stripped[1:] if stripped[1:] else ''}e{'-' if e < 0 else '+'}{abs(e)}".replace("e-0", "e-")


# The keys of each kind of line. "?" marks a key that is left out if it is empty, "~" one that
# may be left out and may be zero. The types: s text, t text that is sealed, i integer, f
# number, b true or false, d time, h bytes in base64, * anything, [x] a list, {x} an object with any
# keys, and names.

KINDS = {
    "header": "format s, redacted ?b, software s",
    "run": "cost_micros i, created d, dataset dataset, endpoint ?s, id s, model ?s, records i, settings ?*, state s, trials i, "
           "unjudged i, updated d",
    "dataset": "hash s, items i, names [s]",
    "judge": "hash s, identity ?*, name s, rule ?b",
    "item": "hash s, item content, position i",
    "content": "id s, category ?s, cluster ?s, question ?t, references ?[t], response t, messages ?[turn], fields ?{t}, weight ?f",
    "turn": "content t, name ?t, role s, tool_call_id ?s, tool_calls ?[tool]",
    "tool": "function function, id ?s, type ?s",
    "function": "arguments t, name t",
    "record": "item s, position i, judge s, trial i, verdict ?verdict, failure ?failure, calls ?[call], answer ~t",
    "verdict": "label s, score f, pass ~b, aspects ?{f}, parts ?[part], reason ?t, confidence ~f",
    "part": "name t, label ?s, score ~f, reason ?t, failure ?failure",
    "failure": "kind s, detail ?t, probability ~f",
    "call": "model s, request s, started d, reply ?reply, error ?t, attempts ?i",
    "reply": "text t, refusal ?t, stop s, usage usage, model ?s, fingerprint ?s, request_id ?s, batch ?s, sent ?s, dropped ?s, "
             "logprobs ?L, latency_ns i, attempts i, cost_micros ?i, unpriced ?b, cached ?b, key ?s",
    "usage": "input i, output i, cached_input ?i, reasoning ?i, estimated ?b",
    "logprob": "token s, logprob f, top ?[logprob]",
    "manifest": "calls i, cost_micros i, head s, items i, judged i, numbers ?*, records i, replies i, tokens tokens, unjudged i",
    "tokens": "input i, output i",
    "signature": "algorithm s, key h, signature h",
}
KINDS = {kind: {k: t for k, t in (pair.split() for pair in keys.split(", "))} for kind, keys in KINDS.items()}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?(Z|[+-]\d\d:\d\d)\Z")
EMPTY = ("", None, False, [], {}, "0")


def fits(v, kind, where):
    """Check that a value is of a kind, and return it with its texts sealed."""
    if kind[0] == "[" and isinstance(v, list):
        return [fits(e, kind[1:-1], where) for e in v]
    if kind[0] == "{" and isinstance(v, dict):
        return {k: fits(e, kind[1:-1], f"{where}.{k}") for k, e in v.items()}
    if kind == "L" and isinstance(v, list):
        fits(v, "[logprob]", where)
        return [{"logprob": Number("0"), "token": seal(canonical(v))}]
    if kind in KINDS and isinstance(v, dict):
        for key in v.keys() - KINDS[kind].keys():
            raise ValueError(f"{where}: nothing is known of the key {key!r}")
        return {k: e for k, t in KINDS[kind].items() for e in [of_key(v, k, t, where)] if e is not None}
    text, number = isinstance(v, str) and not isinstance(v, Number), isinstance(v, Number)
    if kind == "h":
        good = text and b64encode(b64decode(v)).decode() == v
    else:
        good = {"s": text, "t": text, "*": True, "b": isinstance(v, bool), "d": text and TIME.match(v), "f": number and shortest(v) == v,
                "i": number and re.match(r"(0|-?[1-9]\d*)\Z", v)}.get(kind)
    if not good:
        raise ValueError(f"{where}: {canonical(v)[:60]} is not in the form that the specification asks for")
    return seal(v) if kind == "t" else v


def of_key(v, key, kind, where):
    if key not in v:
        if kind[0] in "?~":
            return None
        raise ValueError(f"{where}: the key {key!r} is missing")
    if kind[0] == "?" and v[key] in EMPTY and not (kind == "?*" and v[key] is not None):
        raise ValueError(f"{where}: the key {key!r} is empty and should be left out")
    return fits(v[key], kind.lstrip("?~"), f"{where}.{key}")


def seal(text):
    return "sha256:" + sha(text) if text else ""


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


def texts_of(v, kind):
    """Yield the sealed texts of a body in which everything has its form."""
    if kind[0] in "[{":
        for e in v.values() if isinstance(v, dict) else v:
            yield from texts_of(e, kind[1:-1])
    elif kind == "t":
        yield v
    elif kind == "L":
        yield v[0]["token"] if len(v) == 1 and v[0].keys() == {"logprob", "token"} and v[0]["logprob"] == "0" else "text"
    elif kind in KINDS:
        for k, t in KINDS[kind].items():
            if k in v:
                yield from texts_of(v[k], t.lstrip("?~"))


# The file.


class Checker:
    def __init__(self):
        self.findings, self.redacted, self.kind, self.head = [], False, "", "0" * 64
        self.run, self.judge, self.item, self.last_item, self.trial = {}, {}, None, -1, None
        self.counts = dict.fromkeys(("calls", "cost_micros", "items", "judged", "records", "replies", "unjudged", "input", "output"), 0)
        self.dataset, self.gaps, self.scores, self.root, self.signed = bytes(32), False, [], "", False

    def find(self, check, line, message):
        self.findings.append({"check": check, "line": line, "message": message})

    def file(self, data):
        first = (FORMAT + "\n").encode()
        if data[:len(first)] != first:
            raise Damaged("it does not begin with " + FORMAT)
        body, last = data[:-72], data[-72:]
        if last != f"sha256 {sha(body)}\n".encode():
            self.find("file", 0, "the SHA-256 of its bytes is not the one in its last line")
        try:
            text = zstd.decode(body[len(first):])
        except (IndexError, ValueError) as e:
            raise Damaged(f"its Zstandard frame is cut short or broken: {e}") from e
        if not text.endswith(b"\n"):
            raise Damaged("its last line has no end")
        for n, line in enumerate(text[:-1].split(b"\n"), 1):
            self.line(n, line)
        if not self.root:
            raise Damaged("it ends before its manifest")

    def line(self, n, text):
        parts = LINE.match(text)
        if not parts or len(text) > MAX_LINE:
            raise Damaged(f"line {n} is not a line of a run file")
        body, hash_, kind, prev = parts[1], *(p.decode() for p in parts.groups()[1:])
        self.follows(n, kind)
        if prev != self.head:
            self.find("chain", n, "the line does not follow the one before it")
        before, self.head, sealed = self.head, hash_, None
        try:
            v = parse(body)
            sealed = fits(v, kind, kind) if kind != "prices" else v
            if canonical(v).encode() != body:
                raise ValueError("the line is not in canonical form")
        except (ValueError, KeyError, RecursionError) as e:
            self.find("form", n, str(e))
            if kind not in ("item", "record"):
                raise Damaged("the rest cannot be read", "form", n) from e
            self.gaps = self.gaps or kind == "item"
            return
        if kind == "header":
            self.redacted = v.get("redacted", False)
            sealed.pop("redacted", None)
        elif kind in ("item", "record") and self.redacted:
            sealed = v
            if not all(SEALED.match(t) for t in texts_of(v, kind)):
                self.find("form", n, f"the {kind} of a redacted file holds text")
        elif kind not in ("item", "record"):
            sealed = v
        if sha(f"{prev}\n{kind}\n{sha(canonical(sealed))}\n") != hash_:
            self.find("chain", n, f"the {kind} was changed: it does not match its hash")
        getattr(self, "on_" + kind)(n, v, before)

    def follows(self, n, kind):
        """Check that a kind of line may follow the line before it."""
        after = {"": "header", "header": "run", "run": "judge", "judge": "prices item manifest", "prices": "item manifest",
                 "item": "record", "record": "item record manifest", "manifest": "signature", "signature": ""}
        if kind not in after[self.kind].split():
            if self.kind == "item" and kind in ("item", "manifest"):
                self.find("order", n, "the item before it has no record")
            elif kind not in ("item", "record") or self.kind not in ("judge", "prices", "item", "record"):
                raise Damaged(f"a line of kind {kind!r} stands behind one of kind {self.kind!r}", "order", n)
        self.kind = kind

    def on_header(self, _n, v, _before):
        if v["format"] != FORMAT:
            raise Damaged("the header names another format")

    def on_run(self, _n, v, _before):
        self.run = v

    def on_judge(self, n, v, _before):
        self.judge = v
        if sha(canonical(v.get("identity", v["name"]))) != v["hash"]:
            self.find("judge", n, "the judge does not match its hash")

    def on_prices(self, _n, _v, _before):
        pass

    def on_item(self, n, v, _before):
        if not HASH.match(v["hash"]):
            self.find("form", n, "the hash of the item is not a SHA-256")
        if not self.redacted and sha(canonical(v["item"])) != v["hash"]:
            self.find("item", n, "the item does not match its hash")
        at = int(v["position"])
        if at <= self.last_item:
            self.find("order", n, "the item stands at a position that is not behind the one before it")
        self.gaps = self.gaps or at != self.counts["items"]
        self.counts["items"] += 1
        self.dataset = hashlib.sha256(self.dataset + v["hash"].encode()).digest()
        self.item, self.last_item, self.trial = v, at, -1

    def on_record(self, n, v, _before):
        if self.item is None or v["item"] != self.item["hash"] or v["position"] != self.item["position"]:
            self.find("order", n, "the record is not of the item before it")
        elif int(v["trial"]) <= self.trial:
            self.find("order", n, "the record is not behind that of the trial before it")
        self.trial = int(v["trial"])
        verdict, calls, count = v.get("verdict"), v.get("calls", []), self.counts
        for wrong, why in (
            (("verdict" in v) == ("failure" in v), "it has not either a verdict or a failure"),
            (verdict and not 0 <= float(verdict["score"]) <= 1, "its score lies outside 0 to 1"),
            (verdict and not verdict["label"], "its verdict has no label"),
            (v["judge"] != self.judge["name"], "it is by another judge than the run"),
            (not 0 <= self.trial < max(1, int(self.run["trials"])), "there are not that many trials"),
            (any(("reply" in c) == ("error" in c) for c in calls), "one of its calls has not either a reply or an error"),
        ):
            if wrong:
                self.find("record", n, why)
                break
        count["records"] += 1
        count["judged" if verdict else "unjudged"] += 1
        count["calls"] += len(calls)
        for reply in (c["reply"] for c in calls if "reply" in c):
            count["replies"] += 1
            if not reply.get("cached"):
                count["cost_micros"] += int(reply.get("cost_micros", 0))
                count["input"] += int(reply["usage"]["input"])
                count["output"] += int(reply["usage"]["output"])
        weight = float((self.item or {"item": {}})["item"].get("weight", 1))
        self.scores.append((float(verdict["score"]) if verdict else 0.0, weight))

    def on_manifest(self, n, v, before):
        self.root = self.head
        if v["head"] != before:
            self.find("chain", n, "the manifest names another line before it")
        said = {**v, **v["tokens"]}
        for key, counted in self.counts.items():
            if int(said[key]) != counted:
                self.find("numbers", n, f"{key}: the file says {said[key]}, and {counted} are counted")
        for key in ("records", "unjudged", "cost_micros"):
            if int(self.run[key]) != self.counts[key]:
                self.find("numbers", n, f"{key} of the run: the file says {self.run[key]}, and {self.counts[key]} are counted")
        items = int(self.run["dataset"]["items"])
        if self.counts["items"] > items:
            self.find("item", n, "there are more items than in the dataset")
        elif not self.gaps and self.counts["items"] == items and self.dataset.hex() != self.run["dataset"]["hash"]:
            self.find("item", n, "the items do not match the hash of the dataset")
        self.report(n, v.get("numbers"))

    def report(self, n, numbers):
        """Check the mean score of a report of one trial without a stopping rule."""
        if not isinstance(numbers, dict) or numbers.get("version") != "deem.report/1":
            return
        settings = self.run.get("settings", {})
        first = (numbers.get("metrics") or [{}])[0]
        if self.run["trials"] != "1" or "until" in settings or first.get("metric") != "score" or not self.scores:
            return
        mean = sum(s * w for s, w in self.scores) / sum(w for _, w in self.scores)
        said = float(first["strict"]["value"])
        if abs(mean - said) > 1e-9 * max(1, abs(mean)):
            self.find("numbers", n, f"the mean score is {mean}, and the report says {said}")

    def on_signature(self, _n, v, _before):
        key, signature = b64decode(v["key"]), b64decode(v["signature"])
        text = f"{FORMAT} signature\n{self.root}\n".encode()
        self.signed = True
        if v["algorithm"] != "ed25519" or len(key) != 32 or len(signature) != 64 or not ed25519(key, text, signature):
            self.find("signature", 0, "the signature does not fit the manifest and the key in the file")


def check(data):
    c = Checker()
    try:
        c.file(data)
    except Damaged as e:
        c.find(e.check, e.line, str(e))
    return c


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("files", nargs="+", metavar="FILE")
    p.add_argument("--json", action="store_true", help="write JSON")
    args = p.parse_args()
    out = []
    for name in args.files:
        try:
            with open(name, "rb") as f:
                c = check(f.read())
        except OSError as e:
            print(e, file=sys.stderr)
            return 2
        out.append({"file": name, "ok": not c.findings, "findings": c.findings, "root": c.root, "not_checked": NOT_CHECKED})
        if not args.json:
            for f in c.findings:
                print(f"{name}: {f['check']}, line {f['line']}: {f['message']}")
            done = f"{len(c.findings)} findings" if c.findings else "ok, signed" if c.signed else "ok, not signed"
            print(f"{name}: {done}; not checked: {', '.join(NOT_CHECKED)}")
    if args.json:
        json.dump(out, sys.stdout, indent=1)
        print()
    return int(any(not o["ok"] for o in out))

if __name__ == "__main__":
    sys.exit(main())
