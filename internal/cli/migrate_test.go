package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/cli"
	"deem/internal/test/storetest"
)

// deemIn runs the command and returns its output. It fails the test unless the command
// exits with the given code.
func deemIn(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	if got := cli.Main(args, strings.NewReader(""), &out, &errw); got != want {
		t.Fatalf("deem %s: exit %d, want %d:\n%s%s", strings.Join(args, " "), got, want, &out, &errw)
	}
	return out.String(), errw.String()
}

// TestMigrateStore checks that runs copied to a Postgres and back export to the same bytes,
// that copying again copies nothing, and that no password is printed.
func TestMigrateStore(t *testing.T) {
	cluster := storetest.Start(t, storetest.Options{})
	dir := t.TempDir()
	file, back := filepath.Join(dir, "first.db"), filepath.Join(dir, "back.db")
	base := cluster.TCP("postgres")

	items := filepath.Join(dir, "items.jsonl")
	rows := `{"id":"a","question":"q","reference":"x","response":"CORRECT"}
{"id":"b","question":"q","reference":"x","response":"INCORRECT"}
{"id":"c","question":"q","reference":"x","response":"neither"}
`
	if err := os.WriteFile(items, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	deemIn(t, 0, "run", "--db", file, "--data", items, "--judge", "universal", "--model", "fake:say=CORRECT", "--trials", "2")
	deemIn(t, 0, "run", "--db", file, "--data", items, "--judge", "match")

	_, said := deemIn(t, 0, "runs", "copy", "--from", file, "--to", base)
	if !strings.Contains(said, "copied 2 runs with 9 records and 0 labels from") {
		t.Errorf("runs copy says %q", said)
	}
	_, again := deemIn(t, 0, "runs", "copy", "--from", file, "--to", base)
	if !strings.Contains(again, "copied 0 runs with 0 records") {
		t.Errorf("runs copy says the second time %q", again)
	}
	if password := cluster.Password(); password == "" || strings.Contains(said+again, password) {
		t.Errorf("the password is printed, or there is none: %q", said)
	}
	deemIn(t, 0, "runs", "copy", "--from", base, "--to", back)

	for _, run := range []string{"last", "last~1"} {
		var bundles [][]byte
		for i, db := range []string{file, base, back} {
			name := filepath.Join(dir, run+string(rune('0'+i))+".deem")
			deemIn(t, 0, "export", run, "--db", db, "-o", name)
			deemIn(t, 0, "verify", name)
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			bundles = append(bundles, body)
		}
		if !bytes.Equal(bundles[0], bundles[1]) || !bytes.Equal(bundles[0], bundles[2]) {
			t.Errorf("run %s exports to other bytes from a file, from Postgres and from a file again", run)
		}
	}

	_, said = deemIn(t, 2, "runs", "copy", "--from", file)
	if !strings.Contains(said, "no database to copy to") {
		t.Errorf("without --to: %q", said)
	}
	_, said = deemIn(t, 2, "runs", "copy", "--from", file, "--to", file)
	if !strings.Contains(said, "copied to itself") {
		t.Errorf("onto itself: %q", said)
	}
	deemIn(t, 2, "runs", "copy", "nothing", "--from", file, "--to", filepath.Join(dir, "none.db"))
}
