package cli_test

// serverFiles are more files in the folder of the commands.
var serverFiles = map[string]string{
	"slow.json":  `{"prices": [{"model": "openai:slow-at-first", "input": 1, "output": 1000}]}`,
	"panel.yaml": "kind: panel\nname: two\nrule: majority\nmembers: [exact, contains, match]\n",
	"model.sh":   program("model", `"text": "CORRECT"`),
	"judge.sh":   program("judge", `"label": "yes"`),
}

// program returns a shell script that gives the same reply to each request.
func program(kind, reply string) string {
	return `echo '{"deem": 1, "kind": "` + kind + `", "name": "x"}'
while read -r line; do
  id=${line#*:}
  echo '{"id": '"${id%%,*}"', ` + reply + `}'
done
`
}

// serverCases follow hints of stores, servers and models.
var serverCases = []hintCase{
	{when: "deem run --data answers.jsonl --judge universal --model openai:gpt-4o-mini --base-url $REFUSING --batch --yes", follow: "leave --batch out"},
	{when: "deem run --data many.jsonl --judge universal --model openai:down-at-first --base-url $SERVER -j 1 --retries 0", follow: "--retry-unjudged"},
	{when: "deem run --data many.jsonl --judge universal --model openai:thinks --base-url $SERVER", follow: "--thinking medium"},
	{when: "deem run --data answers.jsonl --judge universal --model openai:gpt-5 --thinking low --base-url $SERVER", follow: "leave --thinking out\n--thinking => --thinking medium"},
	{when: "deem run --data answers.jsonl --judge universal --model ollama:m --base-url $OLLAMA", follow: "--thinking medium"},
	{when: "deem doctor --model openai:gpt-4o-mini --base-url $SERVER --model-option max-reply=300", follow: "--model-option max-reply=1200"},
	{when: "deem run --data answers.jsonl --judge universal --model openai:slow-at-first --base-url $SERVER --prices slow.json --timeout 2s --retries 0 -j 1 --max-cost 0.1 --max-tokens 50", follow: "deem queue settle RUN => deem queue settle last\n--max-cost => --max-cost 1"},
	{when: "deem run --data answers.jsonl --judge universal --model openai:no-api --base-url $SERVER", follow: ""},
	{when: "deem run --data answers.jsonl --judge 'command:sh model.sh'", follow: "--model => deem run --data answers.jsonl --judge universal --model 'command:sh model.sh'"},
	{when: "deem run --data answers.jsonl --judge universal --model 'command:sh judge.sh'", follow: "--judge => deem run --data answers.jsonl --judge 'command:sh judge.sh'"},

	{when: "sql other.db CREATE TABLE theirs (x)\ndeem run --data a.jsonl --db other.db", follow: "--db => --db some.db"},
	{when: "deem run --data a.jsonl\ndeem run --data a.jsonl --db some.db\nsql .deem/deem.db PRAGMA user_version = 99\ndeem report", follow: "--db => --db some.db"},
	{when: "deem run --data a.jsonl\nsql .deem/deem.db ALTER TABLE runs DROP COLUMN about; ALTER TABLE runs DROP COLUMN deleted; PRAGMA user_version = 1\ndeem report", follow: "deem run --data FILE => deem run --data b.jsonl"},
	{when: "deem run --data a.jsonl --db some.db\ndeem report --db empty.db", follow: "--db => --db some.db\ndeem run --data FILE => deem run --data a.jsonl --db empty.db\ndeem demo"},

	{when: "deem serve --listen 127.0.0.1:0\n" + send(`"judge": "universal"`), follow: "match => " + send(`"judge": "match"`) + "\ndeem serve --model openai:gpt-4o-mini => deem serve --model openai:gpt-4o-mini --base-url $SERVER --listen 127.0.0.1:0"},
	{when: "deem serve --listen 127.0.0.1:0\n" + send(`"judge": "universal", "model": "openai:gpt-4.1"`), follow: "deem serve --model openai:gpt-4.1 => deem serve --model openai:gpt-4.1 --base-url $SERVER --listen 127.0.0.1:0"},
	{when: "deem serve --listen 127.0.0.1:0 --model openai:gpt-4o-mini --base-url $SERVER\n" + send(`"judge": "universal", "model": "openai:gpt-4.1"`), follow: "openai:gpt-4o-mini => " + send(`"judge": "universal", "model": "openai:gpt-4o-mini"`)},
	{when: "deem serve --listen 127.0.0.1:0\n" + send(`"judge": "universal", "model": "fake:say=CORRECT"`), follow: "deem run --data FILE --model fake:say=CORRECT => deem run --data a.jsonl --model fake:say=CORRECT"},
	{when: "deem serve --listen 127.0.0.1:0 --model openai:gpt-4o-mini --base-url $SERVER\n" + send(`"judge": "match", "model": "openai:gpt-4o-mini"`), follow: "leave model out => " + send(`"judge": "match"`) + "\ngrade => " + send(`"judge": "grade", "model": "openai:gpt-4o-mini"`)},
	{when: "deem serve --listen 127.0.0.1:0\n" + send(`"declaration": "kind: panel\nname: two\nrule: majority\nmembers: [exact, contains, match]\n"`), follow: "deem run --data FILE --judge FILE => deem run --data a.jsonl --judge panel.yaml"},
	{when: "deem run --data a.jsonl\ndeem serve --listen 127.0.0.1:0 --read-only\n" + send(`"judge": "match"`), follow: "without --read-only: deem serve => deem serve --listen 127.0.0.1:0"},
}

// send returns a line that sends one item and options to a server.
func send(options string) string {
	return `POST /api/v1/verdicts {` + options + `, "items": [{"question": "Where?", "references": ["Lisbon"], "response": "Lisbon"}]}`
}

// postgresCases follow hints about a shared database.
var postgresCases = []hintCase{
	{when: "export DEEM_DB=$POSTGRES\ndeem run --data a.jsonl --judge exact --detach\ndeem run --data a.jsonl --judge exact --detach", follow: "deem queue"},
	{when: "export DEEM_DB=$POSTGRES\ndeem run --data a.jsonl --judge exact --detach\ndeem run --data a.jsonl --judge exact", follow: "deem queue\ndeem queue cancel => deem queue cancel last"},
	{when: "export DEEM_DB=$POSTGRES\ndeem run --data a.jsonl --judge exact\ndeem queue cancel last", follow: "deem run --data FILE --detach => deem run --data b.jsonl --judge exact --detach"},
	{when: "export DEEM_DB=$POSTGRES\ndeem run --data a.jsonl --judge exact\ndeem run --data a.jsonl --judge exact --detach\ndeem queue resume last", follow: "deem report"},
	{when: "export DEEM_DB=$POSTGRES\ndeem run --data b.jsonl --db some.db\ndeem report", follow: "--db => --db some.db\ndeem run --data FILE => deem run --data a.jsonl\ndeem demo"},
	{when: "deem run --data answers.jsonl --judge labels:labels.csv --detach --db $POSTGRES", follow: "leave --detach out"},
	{when: "sql $POSTGRES CREATE SCHEMA deem; CREATE TABLE deem.runs (x int); CREATE SCHEMA evals\ndeem run --data a.jsonl --db $POSTGRES", follow: "--db => --db some.db\n?search_path=NAME => deem run --data a.jsonl --db '$POSTGRES&search_path=evals'"},
}
