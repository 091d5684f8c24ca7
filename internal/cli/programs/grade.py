#!/usr/bin/env python3
"""A judge for deem: run it with  deem run --data FILE --judge command:./grade.py

deem sends one item per line on standard input and reads one verdict per line from
standard output. Write logs to standard error. If grade() raises, deem records a failure
for that item and starts the program again for the next one.
"""

import json
import sys

VERSION = "1"  # change it when the rules change: other verdicts are another judge


def grade(item):
    """Return a verdict: a label, a score from 0 to 1, and a reason."""
    response = item["response"].lower()
    for reference in item.get("references", []):
        if reference.lower() in response:
            return {"label": "yes", "score": 1, "reason": f"the response says {reference}"}
    return {"label": "no", "score": 0, "reason": "no reference is in the response"}


def main():
    hello = {"deem": 1, "kind": "judge", "name": "grade", "version": VERSION}
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        verdict = grade(request["item"])
        print(json.dumps({"id": request["id"], **verdict}), flush=True)


if __name__ == "__main__":
    main()
