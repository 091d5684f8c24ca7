// Loads the verifier and runs it on one file.
"use strict";
importScripts("wasm_exec.js");

async function load(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(url + ": " + answer.status);
  return answer;
}

onmessage = async (e) => {
  try {
    const go = new Go();
    const packed = await load("verifier.wasm.gz");
    const bytes = await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
    go.run(instance);
    const file = new Uint8Array(await (await load(e.data)).arrayBuffer());
    postMessage(JSON.parse(await deemVerify(file)));
  } catch (err) {
    postMessage({ error: String(err.message || err) });
  }
};
