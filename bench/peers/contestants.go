package main

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A contestant is a program that judges the items.
type contestant struct {
	name string

	// note says what is run, for the page.
	note string

	// message is the reply that this contestant can read, as the message of a choice.
	message string

	// command returns what is typed in a folder that is its own. The arguments in
	// measured are added when its time is taken.
	command  func(l *lab, dir, url string) command
	measured []string

	// judged reads from what it printed how many items it judged.
	judged func(out string) (int, error)

	// restarts are the ways to go on after a kill.
	restarts []restart
}

// A restart is a way to go on. The first start and the second may be typed differently.
type restart struct {
	name          string
	first, second []string // arguments that are added
}

// same is the way of those who have no other.
var same = []restart{{name: "the same command again"}}

// The names of the contestants whose numbers a promise is about.
const (
	ours      = "deem"
	promptfoo = "promptfoo"
)

// contestants returns them in the order of the page.
func contestants() []contestant {
	return []contestant{
		{
			name:    ours,
			note:    "`deem run` with the judge `universal`; records, calls and replies are kept in its store, and a report with intervals is made",
			message: `{"role":"assistant","content":"CORRECT"}`,
			command: deemCommand, judged: deemJudged, restarts: same,
		},
		{
			name:    "loop in JavaScript",
			note:    "`fetch` with workers, our script: the least that Node needs for the calls; nothing is kept",
			message: `{"role":"assistant","content":"CORRECT"}`,
			command: script("loop.mjs"), judged: scriptJudged,
		},
		{
			name: "autoevals",
			note: "`Factuality` from the library, in a script of ours with workers; nothing is kept",
			message: `{"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":` +
				`{"name":"select_choice","arguments":"{\"reasons\":\"\",\"choice\":\"C\"}"}}]}`,
			command: script("autoevals.mjs"), judged: scriptJudged, restarts: same,
		},
		{
			name:    promptfoo,
			note:    "`promptfoo eval` with the assertion `factuality` on stored outputs; results are kept in its database, and its log files, cache and calls home are off",
			message: `{"role":"assistant","content":"{\"category\":\"C\",\"reason\":\"\"}"}`,
			command: promptfooCommand, measured: noCache, judged: promptfooJudged,
			restarts: []restart{
				{name: "the same command again, its cache on, as it is by default"},
				{name: "the same command again, `--no-cache` both times", first: noCache, second: noCache},
				{name: "`--resume`, `--no-cache` both times", first: noCache, second: append([]string{"--resume"}, noCache...)},
			},
		},
	}
}

// noCache turns promptfoo's reply cache off: the items are new to everybody.
var noCache = []string{"--no-cache"}

func deemCommand(l *lab, dir, url string) command {
	return command{
		dir: dir, program: l.deem,
		args: []string{
			"run", "--data", l.file("items.jsonl"), "--judge", "universal", "--model", "openai:test", "--base-url", url,
			"-j", strconv.Itoa(l.calls), "--json",
		},
	}
}

// deemJudged reads the report.
func deemJudged(out string) (int, error) {
	var r struct {
		Items    int `json:"items"`
		Unjudged int `json:"unjudged"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return 0, fmt.Errorf("the report is no JSON: %w", err)
	}
	return r.Items - r.Unjudged, nil
}

//go:embed scripts/*.mjs
var scripts embed.FS

// script returns the command of one of our scripts. It lies beside node_modules, where
// Node looks for libraries.
func script(name string) func(l *lab, dir, url string) command {
	return func(l *lab, dir, url string) command {
		return command{
			dir: dir, program: l.peers.node(),
			args: []string{filepath.Join(l.peers.dir, name), l.file("items.jsonl"), strconv.Itoa(l.calls)},
			env:  []string{"OPENAI_BASE_URL=" + url, "OPENAI_API_KEY=none"},
		}
	}
}

// scriptJudged reads what our scripts print.
func scriptJudged(out string) (int, error) {
	var r struct {
		Judged *int `json:"judged"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return 0, fmt.Errorf("the output is no JSON: %w", err)
	}
	if r.Judged == nil {
		return 0, fmt.Errorf("the output %q does not say how many were judged", out)
	}
	return *r.Judged, nil
}

// promptfooCommand keeps everything of promptfoo inside the folder, and nothing calls home.
// Its logs are off: they cost it time, and on a busy machine it may end with an error when
// it closes them with lines still to be written.
func promptfooCommand(l *lab, dir, url string) command {
	return command{
		dir: dir, program: l.peers.node(),
		args: []string{
			filepath.Join(l.peers.dir, "node_modules", ".bin", "promptfoo"), "eval", "-c", l.file("promptfoo.json"),
			"-j", strconv.Itoa(l.calls), "--no-table", "--no-progress-bar", "--no-share",
		},
		env: []string{
			"OPENAI_BASE_URL=" + url, "OPENAI_API_KEY=none", "PROMPTFOO_CONFIG_DIR=" + dir,
			"PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1",
			"PROMPTFOO_DISABLE_REMOTE_GENERATION=1", "PROMPTFOO_DISABLE_SHARING=1",
			"PROMPTFOO_DISABLE_DEBUG_LOG=1", "PROMPTFOO_DISABLE_ERROR_LOG=1",
		},
	}
}

// promptfooStart is promptfoo without work, which shows what starting it costs.
func promptfooStart(l *lab) command {
	c := promptfooCommand(l, l.dir, "")
	c.args = []string{c.args[0], "--version"}
	return c
}

// promptfooCounts are the lines of its summary, as "1,000 passed (100%)".
var promptfooCounts = regexp.MustCompile(`([\d,]+) (passed|failed|error)`)

// promptfooJudged reads the summary. An error is an item without a verdict.
func promptfooJudged(out string) (int, error) {
	counts := map[string]int{}
	for _, m := range promptfooCounts.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			return 0, err
		}
		counts[m[2]] = n
	}
	if _, ok := counts["passed"]; !ok {
		return 0, errors.New("the output has no summary")
	}
	return counts["passed"] + counts["failed"], nil
}

// promptfooTest is an item as promptfoo has it: the question is the prompt, and the
// response is an output that was stored earlier.
type promptfooTest struct {
	Vars           map[string]string   `json:"vars"`
	ProviderOutput string              `json:"providerOutput"`
	Assert         []map[string]string `json:"assert"`
}

func promptfooTestOf(it item) promptfooTest {
	return promptfooTest{
		Vars:           map[string]string{"question": it.Question},
		ProviderOutput: it.Response,
		Assert:         []map[string]string{{"type": "factuality", "value": it.Reference}},
	}
}

// writeFiles writes what the contestants read: the same items for all.
func writeFiles(dir string, items []item) error {
	if err := writeLines(filepath.Join(dir, "items.jsonl"), items, func(it item) item { return it }); err != nil {
		return err
	}
	tests := filepath.Join(dir, "tests.jsonl")
	if err := writeLines(tests, items, promptfooTestOf); err != nil {
		return err
	}
	config, err := json.MarshalIndent(map[string]any{
		"prompts":     []string{"{{question}}"},
		"providers":   []string{"echo"},
		"defaultTest": map[string]any{"options": map[string]string{"provider": "openai:chat:test"}},
		"tests":       "file://" + tests,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "promptfoo.json"), config, 0o600)
}
