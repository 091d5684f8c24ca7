package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"deem/internal/cli"
)

// With --json standard output has one document, and standard error nothing, or one object
// if the command failed, even if its flags could not be parsed.
func TestJSONIsOneDocument(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"items.jsonl": `{"id":"a","reference":"18 days","response":"18 days"}` + "\n" + `{"id":"b","reference":"19 days","response":"20 days"}` + "\n",
		"labels.csv":  "id,label,annotator\na,yes,anna\nb,no,anna\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deem := func(args string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = cli.Main(strings.Fields(args), strings.NewReader(""), &o, &e)
		return code, o.String(), e.String()
	}
	for _, c := range []struct {
		args string
		code int
	}{
		{"run --data items.jsonl --judge exact --json", 0},
		{"label list --json", 0},
		{"label import labels.csv --json", 0},
		{"label list --json", 0},
		{"agree last --json", 0},
		{"run --data items.jsonl --judge contains --json", 0},
		{"agree last --plan 1 --json", 2},
		{"probe --data items.jsonl --judge exact --kinds number --dry-run --json", 0},
		{"run --data items.jsonl --dry-run --json", 0},
		{"run --data items.jsonl --judge universal --model fake:say=CORRECT --dry-run --json", 0},
		{"run --data items.jsonl --judge universal --judge exact --model fake:say=CORRECT --dry-run --json", 0},
		{"run --nosuch --json", 2},
		{"run --json --nosuch", 2},
		{"run --json=foo", 2},
		{"run --limit x --json", 2},
		{"rnu --nosuch --json", 2},
	} {
		code, out, errs := deem(c.args)
		if code != c.code {
			t.Errorf("deem %s: exit code %d, want %d\n%s", c.args, code, c.code, errs)
		}
		if code == 0 && (!json.Valid([]byte(out)) || errs != "") {
			t.Errorf("deem %s: standard output is not JSON document, or standard error not empty:\n%s\n%s", c.args, out, errs)
		}
		if code != 0 && (!json.Valid([]byte(errs)) || out != "") {
			t.Errorf("deem %s: standard error is not JSON document, or standard output not empty:\n%s\n%s", c.args, errs, out)
		}
	}
	for _, args := range []string{"run --nosuch --json=false", "run --nosuch", "run --nosuch -- --json"} {
		if _, _, errs := deem(args); !strings.HasPrefix(errs, "deem: error: ") {
			t.Errorf("deem %s: standard error is %q, want words", args, errs)
		}
	}
}

// The lists of --json can be read back: probes as items, labels as labels.
func TestJSONListsAreRead(t *testing.T) {
	t.Chdir(t.TempDir())
	const items = `{"id":"a","reference":"18 days","response":"18 days"}` + "\n" + `{"id":"b","reference":"19 days","response":"20 days"}` + "\n"
	deem := func(into, args string) {
		t.Helper()
		var o, e bytes.Buffer
		if code := cli.Main(strings.Fields(args), strings.NewReader(""), &o, &e); code != 0 {
			t.Fatalf("deem %s: exit code %d\n%s", args, code, e.String())
		}
		if into != "" {
			if err := os.WriteFile(into, o.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile("items.jsonl", []byte(items), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("labels.csv", []byte("id,label,annotator\na,yes,anna\nb,no,anna\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	deem("", "run --data items.jsonl --judge exact")
	deem("", "label import labels.csv")
	deem("labels.json", "label list --json")
	deem("", "agree last labels.json --map item=id")
	deem("probes.json", "probe --data items.jsonl --judge exact --kinds number --dry-run --json")
	deem("", "run --data probes.json --judge exact")
}

// A failed write is an error, also for commands that print line by line.
func TestFullDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"list judges", "list judges --json", "list formats", "doctor", "help run", "version"} {
		var errs bytes.Buffer
		code := cli.Main(strings.Fields(args), strings.NewReader(""), full{}, &errs)
		if code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("deem %s: exit code %d and %q, want 1 and a word about it", args, code, errs.String())
		}
	}
}

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("write: no space left on device") }
