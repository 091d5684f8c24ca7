// Runs the verifier on one file. The page loads both.
"use strict";
importScripts("wasm_exec.js");

onmessage = async (e) => {
  try {
    const go = new Go();
    const [packed, file] = e.data;
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
    go.run(instance);
    postMessage(JSON.parse(await deemVerify(new Uint8Array(file))));
  } catch (err) {
    postMessage({ error: String(err.message || err) });
  }
};
