package cli_test

// answerFiles are the files for hints about readers and contexts.
var answerFiles = map[string]string{
	"dump.json":      `[{"id": "a", "question": "Where?", "gold_answer": "Porto", "contexts": ["in Porto"]}, {"id": "b", "question": "When?", "gold_answer": "in May", "contexts": ["in May 2023"]}]`,
	"ask.jsonl":      `{"id": "a", "question": "Where?", "answer": "Porto"}` + "\n" + `{"id": "b", "question": "When?", "answer": "in May", "category": "c2"}`,
	"renamed.jsonl":  `{"id": "a", "question": "Where?", "gold_answer": "Porto", "found": "in Porto"}`,
	"unasked.jsonl":  `{"id": "a", "ask": "Where?", "contexts": "in Porto"}` + "\n" + `{"id": "b", "ask": "When?", "contexts": "in May"}`,
	"ungraded.jsonl": `{"id": "a", "question": "Where?", "right": "Porto", "contexts": "in Porto"}` + "\n" + `{"id": "b", "question": "When?", "right": "in May", "contexts": "in May"}`,
	"one.jsonl":      `{"id": "a", "question": "Where?", "contexts": "in Porto"}`,
	"places.json":    `{"conv": [{"context": "in Porto"}]}`,
	"twice.json":     `[{"question": "Where?", "context": "in Porto"}, {"question": "Where?", "context": "in Braga"}, {"question": "When?", "context": "in May"}]`,
	"sameid.jsonl":   `{"id": "a", "nr": 1, "question": "Where?", "contexts": "in Porto"}` + "\n" + `{"id": "a", "nr": 2, "question": "When?", "contexts": "in May"}`,
	"failed.jsonl":   `{"id": "a", "question": "Where?", "contexts": "", "status": "failed"}` + "\n" + `{"id": "b", "question": "When?", "contexts": "in May"}`,
	"history.json":   `[{"question_id": "q0", "question_type": "single-session-user", "question": "Where?", "answer": "Porto", "haystack_session_ids": ["s0"], "haystack_dates": ["2024"], "haystack_sessions": [[{"role": "user", "content": "in Porto"}]], "answer_session_ids": ["s0"]}]`,
}

const byFake = " --model fake:say=Porto"

// answerCases follow hints about readers and contexts.
var answerCases = []hintCase{
	{when: "deem answer", follow: "deem answer --contexts dump.json --model openai:gpt-4o-mini => deem answer --contexts dump.json" + byFake},
	{when: "deem answer --contexts dump.json --base-url $SERVER", follow: "--model openai:gpt-4o-mini"},
	{when: "deem answer --contexts dump.json --judge exact" + byFake, follow: "deem run --contexts => deem run --contexts dump.json --reader-model fake:say=Porto --judge exact"},
	{when: "deem run --contexts dump.json --judge exact --base-url $SERVER", follow: "--reader-model openai:gpt-4o-mini"},
	{when: "deem answer --contexts dump.json --reader nobody" + byFake, follow: "deem list readers"},
	{when: "deem answer longmemeval --contexts dump.json" + byFake, follow: "--data => --data history.json", past: true},
	{when: "deem answer --contexts failed.jsonl" + byFake, follow: "deem show ITEM => deem show a\n--retry-unjudged => --retry-unjudged --max-unjudged 100%\n--max-unjudged => --max-unjudged 100%"},
	{when: "deem answer --contexts renamed.jsonl" + byFake, follow: "--map field.contexts=COLUMN => --map field.contexts=found"},
	{when: "deem answer --contexts unasked.jsonl" + byFake, follow: "--data FILE => --data ask.jsonl\n--map question=COLUMN => --map question=ask"},
	{when: "deem run --contexts ungraded.jsonl --judge exact --reader-model fake:say=Porto", follow: "--data FILE => --data ask.jsonl\n--map references=COLUMN => --map references=right"},
	{when: "deem answer --data ask.jsonl --contexts one.jsonl" + byFake, follow: "--exclude id=b"},
	{when: "deem answer --data ask.jsonl --contexts places.json" + byFake, follow: "--exclude category=NAME => --exclude category=c2"},
	{when: "deem answer --data ask.jsonl --contexts twice.json" + byFake, follow: "--exclude id=a"},
	{when: "deem answer --contexts sameid.jsonl" + byFake, follow: "--map id=COLUMN => --map id=nr"},
	{when: "deem answer --arm none" + byFake, follow: "--data FILE => --data ask.jsonl"},
	{when: "deem answer --data ask.jsonl --arm oracle" + byFake, follow: "deem answer longmemeval --data FILE --arm oracle => deem answer longmemeval --data history.json --arm oracle" + byFake + "\n--arm none => --arm none"},
	{when: "deem answer --data ask.jsonl --arm shuffle" + byFake, follow: "--contexts FILE => --contexts dump.json"},
}
