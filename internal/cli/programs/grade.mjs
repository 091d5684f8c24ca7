#!/usr/bin/env node
// A judge for deem: run it with  deem run --data FILE --judge command:./grade.mjs
//
// deem sends one item per line on standard input and reads one verdict per line from
// standard output. Write logs to standard error. If grade() throws, deem records a failure
// for that item and starts the program again for the next one.

import { createInterface } from "node:readline";

const version = "1"; // change it when the rules change: other verdicts are another judge

// grade returns a verdict: a label, a score from 0 to 1, and a reason.
function grade(item) {
  const response = item.response.toLowerCase();
  for (const reference of item.references ?? []) {
    if (response.includes(reference.toLowerCase())) {
      return { label: "yes", score: 1, reason: `the response says ${reference}` };
    }
  }
  return { label: "no", score: 0, reason: "no reference is in the response" };
}

const write = (object) => process.stdout.write(JSON.stringify(object) + "\n");

write({ deem: 1, kind: "judge", name: "grade", version });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  write({ id: request.id, ...grade(request.item) });
}
