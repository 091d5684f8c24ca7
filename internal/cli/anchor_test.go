package cli_test

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/cli"
)

// TestAnchor checks that a manipulated store, with consistent verdicts and replies and
// recomputed seals, still exports a file that verifies; and that the anchor printed before
// distinguishes it from the original file.
func TestAnchor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deem.db")
	storeToDamage(t, dir, path)
	code, line := runOn(path, "export last --anchor")
	if code != 0 || !strings.HasPrefix(line, "deem-anchor-1 ") || strings.Count(line, "\n") != 1 {
		t.Fatalf("export --anchor: exit code %d, prints %q", code, line)
	}
	honest, redacted, edited := filepath.Join(dir, "honest.deem"), filepath.Join(dir, "redacted.deem"), filepath.Join(dir, "edited.deem")
	for _, name := range []string{honest, redacted + " --redact"} {
		if code, again := runOn(path, "export last --anchor -o "+name); code != 0 || again != line {
			t.Fatalf("export -o %s: exit code %d, prints %q, want %q", name, code, again, line)
		}
	}
	edit(t, path)
	if code, out := runOn(path, "export last -o "+edited); code != 0 {
		t.Fatalf("export of the edited store: exit code %d\n%s", code, out)
	}
	run, _, _ := strings.Cut(strings.TrimPrefix(line, "deem-anchor-1 "), " ")
	for _, c := range []struct {
		exit int
		args []string
	}{
		{0, []string{honest, "--anchor", line}},
		{0, []string{redacted, "--anchor", strings.TrimSpace(line)}},
		{0, []string{edited}}, // Without a key and an anchor the edit cannot be detected.
		{4, []string{edited, "--anchor", line}},
		{4, []string{honest, "--anchor", strings.Replace(line, run, "another", 1)}},
		{4, []string{honest, "--anchor", strings.Replace(line, run, "lock", 1)}},
		{2, []string{honest, "--anchor", ""}},
		{2, []string{honest, "--anchor", strings.TrimSpace(line)[:80]}},
		{2, []string{honest, "--anchor", strings.Replace(line, "anchor-1", "anchor-2", 1)}},
		{2, []string{honest, edited, "--anchor", line}},
	} {
		var out bytes.Buffer
		if code := cli.Main(append([]string{"verify"}, c.args...), strings.NewReader(""), &out, &out); code != c.exit {
			t.Errorf("deem verify %q: exit code %d, want %d:\n%s", c.args, code, c.exit, out.String())
		}
	}
}

// edit changes every "no" of the newest run to "yes", in replies and verdicts, and
// recomputes the seals.
func edit(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const last = "run = (SELECT max(n) FROM runs)"
	for _, statement := range []string{
		`UPDATE replies SET body = replace(body, 'INCORRECT', 'CORRECT')`,
		`UPDATE replies SET sum = deem_seal(n, CAST(key AS BLOB), CAST(body AS BLOB), latency, attempts, cost_micros, unpriced)`,
		`UPDATE calls SET sum = deem_seal(record, seq, CAST(model AS BLOB), CAST(request AS BLOB), started, CAST(error AS BLOB), tries,
			reply, CAST(reply_key AS BLOB), CAST(reply_inline AS BLOB), latency, attempts, cost_micros, unpriced, cached,
			(SELECT CAST(key AS BLOB) FROM replies WHERE n = reply), (SELECT CAST(body AS BLOB) FROM replies WHERE n = reply))`,
		`UPDATE records SET (label, score, pass) = (SELECT label, score, pass FROM records WHERE ` + last + ` AND score = 1 LIMIT 1) WHERE score = 0 AND ` + last,
		`UPDATE records SET sum = CAST(deem_seal(n, run, CAST(item_id AS BLOB), trial, item, position, CAST(category AS BLOB), CAST(cluster AS BLOB),
			weight, CAST(judge AS BLOB), CAST(label AS BLOB), score, pass, confidence, CAST(reason AS BLOB), CAST(parts AS BLOB),
			CAST(kind AS BLOB), CAST(detail AS BLOB), calls, substr(sum, 17)) || substr(sum, 17) AS BLOB)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
