package cli_test

// boardCases follow hints about leaderboards. The first lines make a board.
var boardCases = []hintCase{
	{when: "deem board check", follow: "deem init board"},
	{when: "deem init board board\ndeem init board board", follow: "deem init board other"},
	{when: "deem board build", follow: "deem board build -o site", past: true},
	{when: "deem init board\ndeem board build board -o site\ndeem board build board -o site", follow: "-o => -o other"},
	{when: "deem init board\ndeem board build board -o site --verifier nowhere", follow: "--verifier bin/verifier", past: true},
	{when: "deem init board\ndeem board log board", follow: "deem keygen board\ndeem board log --key board.key => deem board log board --key board/example.key"},
	{when: "deem init board\ndeem keygen board\ndeem board log board --key board.key\necho >> board/board.yaml\ndeem board log board --key board.key", follow: "deem board key => deem board key board.pub --origin example.org/board"},
	{when: "deem init board\nrm board/runs/own-amber.deem\ndeem board log board --key board/example.key", follow: "--withdraw runs/own-amber.deem --reason 'why'"},
	{when: "deem init board\nrm board/runs/own-amber.deem\ndeem board log board --key board/example.key --withdraw runs/own-amber.deem", follow: "--reason 'why'"},
	{when: "deem board identify", follow: "deem board identify run.deem", past: true},
	{when: "deem init board\nhead -c 1000 board/runs/own-amber.deem > cut.deem\ndeem board identify cut.deem", follow: "deem verify cut.deem", past: true},
	{when: "deem keygen board\ndeem board key board.pub", follow: "deem board key board.pub --origin example.org/board"},
}
