package judge_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/judge"
)

// shared finds a file of the shared data in the parent folders of the test, or skips.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(dir, "shared", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skipf("the real replies are not here: shared/%s", name)
		}
		dir = up
	}
}

// contracts are the forms that the prompts of the collected replies demand.
var contracts = map[string]string{
	"label_json":           "read: {how: json, key: label}",
	"verdict_json":         "read: {how: json, key: verdict}",
	"yes_no":               "read: label",
	"equivalent_different": "read: label",
	"rating":               `read: {how: pattern, pattern: '\[\[([0-9]+)\]\]'}`,
	"letter":               `read: {how: pattern, pattern: '^\s*([ABC]):'}`,
	// Published prompts that let the model explain as long as it likes.
	"label_json:CORRECT|WRONG":       `read: {how: pattern, pattern: '\{[^{}]*"label"\s*:\s*"(CORRECT|WRONG)"[^{}]*\}'}`,
	"pairwise:[[A>>B]]..[[B>>A]]":    `read: {how: pattern, pattern: '\[\[(A>>B|A>B|A=B|B>A|B>>A)\]\]'}`,
	"pairwise:Output (a)|Output (b)": `read: {how: pattern, pattern: '(?m)(?:Therefore, |^)(Output \([ab]\))(?: is better)?\.?\s*$'}`,
}

// TestRealReplies reads a collection of real replies strictly, and prints the table of
// docs/judges.md. A failure to read is acceptable; a label that the run did not record is
// not.
func TestRealReplies(t *testing.T) {
	f, err := os.Open(shared(t, "data/replies/replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	type tally struct{ read, differ, failed int }
	tallies := map[string]*tally{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var r struct {
			ID       string `json:"id"`
			Protocol string `json:"protocol"`
			Reply    string `json:"raw_reply"`
			Expected string `json:"expected"`
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.Protocol, "server-specific:") {
			continue // Each server has its own form.
		}
		p := contract(t, r.Protocol)
		c := tallies[r.Protocol]
		if c == nil {
			c = &tally{}
			tallies[r.Protocol] = c
		}
		v, err := judge.Read(p, deem.Item{}, deem.Reply{Text: r.Reply, Stop: deem.StopEnd})
		got := v.Label
		if n, ok := v.Aspects["n"]; ok {
			got = fmt.Sprint(n)
		}
		got = strings.Trim(strings.TrimPrefix(strings.Replace(got, ">>", ">", 1), "Output "), "()")
		switch {
		case err != nil:
			c.failed++
		case got == r.Expected:
			c.read++
		default:
			c.differ++
			t.Errorf("%s (%s): read %q, recorded %q", r.ID, r.Protocol, got, r.Expected)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(tallies)) {
		c := tallies[p]
		t.Logf("%-32s read %3d  without a verdict %3d", p, c.read+c.differ, c.failed)
	}
}

// contract returns the protocol of a kind of reply.
func contract(t *testing.T, name string) judge.Readable {
	t.Helper()
	kind, menu, _ := strings.Cut(name, ":")
	read, ok := contracts[name]
	if !ok {
		read = contracts[kind]
	}
	labels := strings.Split(menu, "|")
	switch {
	case kind == "yes_no":
		labels = []string{"yes", "no"}
	case kind == "letter":
		labels = []string{"A", "B", "C"}
	case kind == "equivalent_different":
		labels = []string{"EQUIVALENT", "DIFFERENT"}
	case strings.HasPrefix(menu, "[["):
		labels = []string{"A>>B", "A>B", "A=B", "B>A", "B>>A"}
	}
	file := "name: x\nprompt: '{response}'\nlabels:\n"
	for _, l := range labels {
		file += fmt.Sprintf("  %q: 1\n", l)
	}
	if kind == "rating" {
		file = "name: x\nprompt: '{response}'\naspects: {n: {min: 1, max: 10}}\n"
	}
	d, err := judge.Parse("x.yaml", []byte(file+read+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
