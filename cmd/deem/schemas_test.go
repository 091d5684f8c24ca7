package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"deem/internal/cli"
)

// These tests check the output of the commands against the schemas that describe it. They are
// not in internal/cli because the test binary of that package is also the command of hundreds
// of tests, and the schema library would double its startup time.

// deemCommand runs the command in this process, and returns its output and exit code.
func deemCommand(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, words bytes.Buffer
	code := cli.Main(args, strings.NewReader(""), &out, &words)
	t.Logf("deem %s\n%s", strings.Join(args, " "), words.String())
	return out.String(), code
}

// configSchema returns the schema of deem.yaml, as printed by the command.
func configSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	out, code := deemCommand(t, "list", "schemas", "--json")
	var schemas map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &schemas); err != nil || code != 0 {
		t.Fatalf("exit code %d, error %v:\n%s", code, err, out)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas["deem.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("deem.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("deem.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The file written by deem init conforms to the schema.
func TestConfigTemplateMeetsTheSchema(t *testing.T) {
	schema := configSchema(t)
	check := func(text []byte) error {
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	t.Chdir(t.TempDir())
	if _, code := deemCommand(t, "init"); code != 0 {
		t.Fatalf("deem init: exit code %d", code)
	}
	template, err := os.ReadFile("deem.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(template); err != nil {
		t.Error(err)
	}
	if err := check([]byte("exclude: [category=a, id=b]\ngate: [overall >= 1%]\nerrata: f.jsonl\nsystem: s\nlog: \"-\"\nlog_level: warn\nmetrics: 127.0.0.1:0\n")); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"jugde: match\n", "exclude: adversarial\n", "exclude: [id=]\n", "log_level: loud\n", "gate: 3\n"} {
		if err := check([]byte(wrong)); err == nil {
			t.Errorf("the schema takes %q", wrong)
		}
	}
}

// The aggregate for Every Eval Ever conforms to its schema for every judge: a model, a
// rule, and with a withheld score.
func TestAggregateKeepsToItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "internal", "cli", "testdata", "every_eval_ever.schema.json"))
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
