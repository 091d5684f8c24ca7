package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deem/internal/cli"
)

// jqFiles are the files of TestJQEverywhere.
var jqFiles = map[string]string{
	"items.jsonl":  manyItems(),
	"labels.csv":   manyLabels("yes", "no"),
	"results.json": `[{"id": "q1", "question": "Where?", "answer": "Lisbon", "response": "Lisbon", "label": "correct"}]`,
	"table.md":     "| system | overall (n=100) |\n|---|---|\n| ours | 88.0 |\n",
	"ranked.jsonl": `{"id": "q1", "retrieved": ["d1", "d2"], "gold_ids": ["d1"]}` + "\n",
	"search.jsonl": `{"id": "q1", "question": "Where?", "reference": "Porto", "contexts": ["Mara moved to Porto."]}` + "\n" +
		`{"id": "q2", "question": "When?", "reference": "2001", "contexts": ["It was in 2001."]}` + "\n",
	"keyed.jsonl": `{"id": "q1", "question": "Where?", "references": ["Porto"]}` + "\n" + `{"id": "q2", "question": "When?", "references": ["2001"]}` + "\n",
	"sure.csv":    "item,label,confidence\n" + sureRows(),
}

func sureRows() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "q%d,%s,0.95\n", i, []string{"yes", "no"}[i%2])
	}
	return b.String()
}

// notShaped are commands whose output is not a JSON document.
var notShaped = map[string]string{
	"worker": "it runs until it is stopped",
}

// jqLines are the commands of TestJQEverywhere, at least one of each name. N differs in each
// use, for names of files to write.
var jqLines = []string{
	"demo", "run --data items.jsonl --judge labels:sure.csv", "cascade fit --labels labels.csv --alpha 0.3 --delta 0.2 -o cascadeN.yaml",
	"run --data items.jsonl --judge exact", "run --data items.jsonl --judge match", "run --data items.jsonl --dry-run",
	"report last", "show q1", "runs", "list judges", "list runs", "list schemas", "plan --data items.jsonl --judge grade --model fake:say=x",
	"plan lock --data items.jsonl -o N.lock", "compare last~1 last --anyway", "label import labels.csv", "label list", "agree last",
	"agree last~1 last", "compare bridge last~1 last", "probe --data items.jsonl --judge exact --kinds number", "rejudge results.json --judge match",
	"claims table.md", "retrieval --data ranked.jsonl", "answer --contexts search.jsonl --model fake:say=Porto", "doctor", "version", "docs", "explain", "explain D001",
	"floor --contexts search.jsonl --data keyed.jsonl --reader-model fake:say=Porto --judge match",
	"runs tag last mine", "runs rename last mine", "runs copy --to copy.db", "queue settle last", "export -o N.deem", "export --format csv -o N.csv",
	"verify run.deem", "board identify run.deem", "export keygen N", "init --judge N.yaml", "serve --new-token N.token",
}

// --jq and --json=FIELDS work with every command that writes JSON.
func TestJQEverywhere(t *testing.T) {
	notQuick(t)
	t.Chdir(t.TempDir())
	for name, text := range jqFiles {
		writeFile(t, name, text)
	}
	n := 0
	deem := func(line string, more ...string) (code int, out, errs string) {
		n++
		words := strings.Fields(line)
		for i := range words {
			words[i] = strings.Replace(words[i], "N", strconv.Itoa(n), 1)
		}
		var o, e bytes.Buffer
		code = cli.Main(append(words, more...), strings.NewReader(""), &o, &e)
		return code, o.String(), e.String()
	}
	tried := map[string]bool{}
	for _, line := range jqLines {
		if line == "verify run.deem" {
			deem("export -o run.deem")
		}
		code, out, errs := deem(line, "--json")
		if code == 2 || code == 1 {
			t.Errorf("deem %s --json: exit code %d\n%s", line, code, errs)
			continue
		}
		var document any
		if err := json.Unmarshal([]byte(out), &document); err != nil {
			t.Errorf("deem %s --json writes no document: %v\n%s", line, err, out)
			continue
		}
		tried[strings.Fields(line)[0]] = true
		kind := "object"
		first, isObject := document.(map[string]any)
		if list, ok := document.([]any); ok {
			kind = "array"
			first, isObject = list[0].(map[string]any)
		}
		if _, out, errs = deem(line, "--jq", "type"); out != kind+"\n" {
			t.Errorf("deem %s --jq type: %q, want %s\n%s", line, out, kind, errs)
		}
		if !isObject {
			continue
		}
		field := slices.Sorted(maps.Keys(first))[0]
		_, out, errs = deem(line, "--json="+field, "--jq", `if type == "array" then .[0] else . end | keys | join(",")`)
		if out != field+"\n" {
			t.Errorf("deem %s --json=%s writes the fields %q\n%s", line, field, out, errs)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z][a-z-]+)  `).FindAllStringSubmatch(helpOf(t, "--help"), -1) {
		if !tried[m[1]] && notShaped[m[1]] == "" {
			t.Errorf("deem %s: nothing tries --jq", m[1])
		}
	}
}

// A wrong field or expression is an error that says what there is.
func TestJQErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"version --json=versione":         `no field \"versione\" in this output`,
		"version --json=a-b":              "is not a list of fields",
		"version --jq .[":                 "it is not a jq expression",
		"version --jq .version.a":         "--jq: expected an object",
		"list formats --json=name,nosuch": `no field \"nosuch\"`,
	} {
		var out, errs bytes.Buffer
		if code := cli.Main(strings.Fields(line), strings.NewReader(""), &out, &errs); code != 2 || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("deem %s: exit code %d, %q, %q; want 2 and %s", line, code, out.String(), errs.String(), want)
		}
	}
	var out, errs bytes.Buffer
	if code := cli.Main([]string{"version", "--jq", ".go, (.prices | length)"}, strings.NewReader(""), &out, &errs); code != 0 || out.String() != runtime.Version()+"\n10\n" {
		t.Errorf("deem version --jq: exit code %d and %q: %s", code, out.String(), errs.String())
	}
}
