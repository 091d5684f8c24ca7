// The least that asks about every item in this language: fetch, and some calls at once.
// Nothing is kept, and the first error ends it. Usage: node loop.mjs ITEMS.jsonl CALLS
import { readFileSync } from "node:fs";

const [file, calls] = process.argv.slice(2);
const url = process.env.OPENAI_BASE_URL + "/chat/completions";
const items = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

async function ask(it) {
  const content = `Question: ${it.question}\nExpected: ${it.reference}\nResponse: ${it.response}\nAnswer CORRECT or INCORRECT.`;
  const resp = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", messages: [{ role: "user", content }], temperature: 0 }),
  });
  if (!resp.ok) throw new Error(`status ${resp.status}`);
  return (await resp.json()).choices[0].message.content;
}

let next = 0;
let judged = 0;
async function worker() {
  while (next < items.length) {
    if ((await ask(items[next++])) === "CORRECT") judged++;
  }
}
await Promise.all(Array.from({ length: Number(calls) }, worker));
console.log(JSON.stringify({ judged }));
