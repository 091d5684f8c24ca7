package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deem/internal/cli"
)

// The aggregate for Every Eval Ever keeps to that schema, whoever judged: a model, a
// rule, and with a score that is withheld.
func TestAggregateKeepsToItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "every_eval_ever.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	data, db := filepath.Join(dir, "items.jsonl"), filepath.Join(dir, "deem.db")
	lines := `{"id":"1","category":"multi-session","question":"Where?","references":["Paris"],"response":"Paris"}
{"id":"2","category":"temporal-reasoning","question":"When?","references":["May"],"response":"June"}
`
	if err := os.WriteFile(data, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  []string
		exit int
	}{
		{"rule", []string{"--judge", "exact"}, 0},
		{"model", []string{"--judge", "universal", "--model", "fake:say=CORRECT", "--system", "rag", "--system-model", "openai:gpt-4o"}, 0},
		{"several prompts", []string{"--judge", "longmemeval", "--model", "fake:say=yes"}, 0},
		{"withheld", []string{"--judge", "universal", "--model", "fake:say=hm"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, code := deemCommand(t, append([]string{"run", "--db", db, "--data", data}, c.run...)...)
			if code != c.exit {
				t.Fatalf("deem run: exit %d, want %d", code, c.exit)
			}
			out, code := deemCommand(t, "export", "--db", db, "--format", "every-eval-ever", "--bootstrap")
			if code != c.exit {
				t.Fatalf("deem export: exit %d, want %d", code, c.exit)
			}
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%v in\n%s", err, out)
			}
		})
	}
}

// deemCommand runs the command in this process, and returns what it printed and its
// exit code.
func deemCommand(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, words bytes.Buffer
	code := cli.Main(args, strings.NewReader(""), &out, &words)
	t.Logf("deem %s\n%s", strings.Join(args, " "), words.String())
	return out.String(), code
}
