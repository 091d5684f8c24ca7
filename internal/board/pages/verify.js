// Verifies the run file of a row in the reader's browser, in a worker.
"use strict";
const button = document.getElementById("verify-button");
const result = document.getElementById("verify-result");

function line(text, tone) {
  const p = document.createElement("p");
  p.textContent = text;
  if (tone) p.className = tone;
  result.append(p);
}

async function load(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(url + ": " + answer.status);
  return answer.arrayBuffer();
}

button.addEventListener("click", async () => {
  button.disabled = true;
  result.replaceChildren();
  line("Loading and verifying ...");
  const worker = new Worker(button.dataset.root + "worker.js");
  const done = () => { worker.terminate(); button.disabled = false; };
  worker.onerror = (e) => { result.replaceChildren(); line("It could not be verified: " + (e.message || "the verifier did not load") + ". Pages on a disk cannot load files: serve the folder.", "warn"); done(); };
  worker.onmessage = (e) => {
    result.replaceChildren();
    const v = e.data;
    if (v.error) line("It could not be verified: " + v.error, "warn");
    else if (v.total_findings === 0) line("Nothing is wrong: " + v.records + " records of " + v.items + " items verified, root " + v.root + ".", "good");
    else line(v.total_findings + " findings. The first: " + v.checks.filter((c) => c.findings).map((c) => c.detail)[0], "bad");
    for (const c of v.checks || []) line(c.name + ": " + c.outcome + (c.detail ? ": " + c.detail : ""));
    result.dataset.total = v.error ? "error" : String(v.total_findings);
    done();
  };
  try {
    worker.postMessage(await Promise.all([load(button.dataset.root + "verifier.wasm.gz"), load(button.dataset.file)]));
  } catch (err) {
    worker.onerror(err);
  }
});
