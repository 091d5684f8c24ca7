// Judges the items of a file with autoevals' Factuality, some at once, and prints how many
// scores there are. Usage: node autoevals.mjs ITEMS.jsonl CALLS
// OPENAI_BASE_URL and OPENAI_API_KEY are those of the environment.
import { readFileSync } from "node:fs";
import { Factuality } from "autoevals";

const [file, calls] = process.argv.slice(2);
const items = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

let next = 0;
let scored = 0;
async function worker() {
  while (next < items.length) {
    const it = items[next++];
    const { score } = await Factuality({
      input: it.question,
      expected: it.reference,
      output: it.response,
      model: "test",
    });
    if (score === 1) scored++;
  }
}
await Promise.all(Array.from({ length: Number(calls) }, worker));
console.log(JSON.stringify({ judged: scored }));
