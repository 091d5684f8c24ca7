package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramKilled judges with a Python program that raises an error on every tenth item,
// writes each item to a file, and kills itself with SIGKILL in between. deem is killed
// twice, too. Every item ends with one record, only the tenth ones without a verdict, and
// judged items are not judged again.
func TestProgramKilled(t *testing.T) {
	notQuick(t)
	t.Parallel()
	const n, j = 200, 2
	dir := t.TempDir()
	writeItems(t, dir, n, func(i int) string { return fmt.Sprint(i) })
	program := `
import json, os, signal, sys, time
print(json.dumps({"deem": 1, "kind": "judge", "version": "1"}), flush=True)
log = open("asked.txt", "a")
for line in sys.stdin:
    ask = json.loads(line)
    n = int(ask["item"]["response"])
    print(n, file=log, flush=True)
    time.sleep(0.002)
    if n % 10 == 0:
        raise ValueError("every tenth")
    if n == 133:
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"id": ask["id"], "score": n % 2}), flush=True)
`
	if err := os.WriteFile(filepath.Join(dir, "grade.py"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "asked.txt")) //nolint:errcheck // It comes with the first item.
		return strings.Count(string(text), "\n")
	}
	args := []string{"run", "--data", "items.jsonl", "--judge", "command:python3 grade.py", "-j", fmt.Sprint(j)}
	for _, after := range []int{40, 100} {
		p := start(t, dir, args...)
		until(t, "items", func() bool { return asked() >= after })
		kill(t, p)
	}
	p := run(t, dir, 3, args...)
	if !strings.Contains(p.err.String(), "resumes") {
		t.Errorf("the run did not resume:\n%s", p.err.String())
	}
	if seen := records(t, dir); len(seen) != n {
		t.Errorf("%d items have a record, want %d", len(seen), n)
	}
	if !strings.Contains(p.out.String(), fmt.Sprintf("%d unjudged (provider", n/10+1)) { // and the one of SIGKILL
		t.Errorf("want %d failures of kind provider:\n%s", n/10+1, p.out.String())
	}
	if again := asked() - n; again > 2*(j+256) {
		t.Errorf("%d items were asked about again after two kills", again)
	}
}
