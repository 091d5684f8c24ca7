"""Five options that do not exist, or have the wrong type. A type checker finds each of them."""

import deem

items = [{"id": "a", "question": "q", "references": ["r"], "response": "r"}]
run = deem.judge(items, concurency=3)
run = deem.judge(items, max_cost="lots")
deem.compare(run, run, gates="overall >= 0")
deem.probe(items, "match", seeed=2)
deem.plan(items, model="openai:gpt-4o-mini", batch="yes")
