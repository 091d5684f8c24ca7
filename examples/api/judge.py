"""Judges three responses over HTTP: python3 judge.py [ADDRESS]. Needs nothing but Python."""
import json, os, sys, urllib.error, urllib.request

items = [
    {"id": "q1", "question": "How long did the trip take?", "references": ["18 days"], "response": "It took 18 days."},
    {"id": "q2", "question": "How long did the trip take?", "references": ["18 days"], "response": "It took 19 days."},
    {"id": "q3", "question": "Was it worth it?", "response": "Every minute."},
]
address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
body = json.dumps({"judge": "match", "items": items}).encode()
request = urllib.request.Request(address + "/api/v1/verdicts", body, {"Content-Type": "application/json"})
if "DEEM_TOKEN" in os.environ:
    request.add_header("Authorization", "Bearer " + os.environ["DEEM_TOKEN"])
try:
    with urllib.request.urlopen(request) as answer:
        found = json.load(answer)
except urllib.error.HTTPError as error:
    problem = json.load(error)
    sys.exit(f"{problem['title']}: {problem['detail']} ({problem.get('hint', 'no hint')})")
for record in found["records"]:
    if "verdict" in record:
        print(f"{record['id']}  {record['verdict']['label']}  score {record['verdict']['score']:g}")
    else:  # unjudged is not wrong
        print(f"{record['id']}  unjudged  {record['failure']['kind']}")
