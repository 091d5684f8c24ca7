// Judges three responses over HTTP: node judge.mjs [ADDRESS]. Needs nothing but Node 20.
const items = [
  { id: "q1", question: "How long did the trip take?", references: ["18 days"], response: "It took 18 days." },
  { id: "q2", question: "How long did the trip take?", references: ["18 days"], response: "It took 19 days." },
  { id: "q3", question: "Was it worth it?", response: "Every minute." },
];
const address = process.argv[2] ?? "http://127.0.0.1:8080";
const headers = { "Content-Type": "application/json" };
if (process.env.DEEM_TOKEN) headers.Authorization = `Bearer ${process.env.DEEM_TOKEN}`;
const answer = await fetch(`${address}/api/v1/verdicts`, { method: "POST", headers, body: JSON.stringify({ judge: "match", items }) });
const found = await answer.json();
if (!answer.ok) {
  console.error(`${found.title}: ${found.detail} (${found.hint ?? "no hint"})`);
  process.exit(1);
}
for (const { id, verdict, failure } of found.records) {
  if (verdict) console.log(`${id}  ${verdict.label}  score ${verdict.score}`);
  else console.log(`${id}  unjudged  ${failure.kind}`); // unjudged is not wrong
}
