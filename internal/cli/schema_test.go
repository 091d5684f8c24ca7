package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/test/modeltest"
	"deem/report"
)

// coinYAML is a judge with two labels in JSON. Its model is random, so only the schema
// makes its replies readable.
const coinYAML = `name: coin
prompt: "Is {response} right? Reply in JSON with the key label: SAME or DIFFERENT."
labels: {SAME: 1, DIFFERENT: 0}
read: json
params:
  max_tokens: 120
  temperature: 1
`

// A judge with a schema can read all replies of a real llama.cpp server, whose model has
// random weights, and hardly any without it. The report says how the schema was sent.
func TestLlamaStructured(t *testing.T) {
	t.Parallel()
	const n = 200
	url := modeltest.Llama(t)
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	judge := func(name, text string, exit int, more ...string) report.Report {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"run", "--data", "items.jsonl", "--judge", "./" + name, "--model", "openai:random", "--base-url", url, "--header", "Authorization=Bearer " + modeltest.Key, "--json"}
		p := start(t, dir, append(args, more...)...)
		if got := p.wait(t); got != exit {
			t.Fatalf("%s: exit code %d, want %d\n%s", name, got, exit, p.err.String())
		}
		var r report.Report
		if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	with := judge("with.yaml", coinYAML+"  schema: true\n", 0)
	card := run(t, dir, 0, "report", "-v").out.String()
	file := filepath.Join(dir, "run.deem")
	run(t, dir, 0, "export", "last", "-o", file)
	verified := run(t, dir, 0, "verify", file).out.String()
	without := judge("without.yaml", coinYAML, 0, "--max-unjudged", "100%")

	t.Logf("judged with the schema: %d of %d; without: %d of %d", with.Judged, n, without.Judged, n)
	if with.Judged != n || without.Judged > n/10 {
		t.Errorf("judged %d of %d with the schema and %d without, want all and at most a tenth", with.Judged, n, without.Judged)
	}
	if !strings.Contains(card, "a JSON schema (response_format.json_schema.schema)") {
		t.Errorf("the report does not say how the schema was sent:\n%s", card)
	}
	if !strings.Contains(verified, "200 requests compared with what was sent") {
		t.Errorf("verify says:\n%s", verified)
	}
}
