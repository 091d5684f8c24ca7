package cli_test

// boardCases follow hints about leaderboards. The first lines make a board.
var boardCases = []hintCase{
	{when: "deem board check", follow: "deem init board"},
	{when: "deem init board board\ndeem init board board", follow: "deem init board other"},
	{when: "deem board build", follow: "deem board build -o site", past: true},
	{when: "deem init board\ndeem board build board -o site\ndeem board build board -o site", follow: "-o => -o other"},
	{when: "deem init board\ndeem board build board -o site --verifier nowhere", follow: "--verifier bin/verifier", past: true},
	{when: "deem init board\ndeem board log board", follow: "deem export keygen board\ndeem board log --key board.key => deem board log board --key board/example.key"},
	{when: "deem init board\ndeem export keygen board\ndeem export board/runs/own-amber.deem --redact -o board/runs/z.deem\ndeem board log board --key board.key", follow: "deem board key => deem board key board.pub --origin example.org/board"},
	{when: "deem board identify", follow: "deem board identify run.deem", past: true},
	{when: "deem board identify answers.jsonl", follow: "deem verify answers.jsonl", past: true},
	{when: "deem export keygen board\ndeem board key board.pub", follow: "deem board key board.pub --origin example.org/board"},
}
