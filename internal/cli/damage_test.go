package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"deem/internal/cli"
	"deem/internal/test/modeltest"
	"deem/internal/test/storetest"
)

// TestDamagedStore damages a store in 200 ways, bytes and whole pages. Damage that changes
// any output must be reported: the command fails, or the doctor finds it. No damage
// silently changes numbers.
func TestDamagedStore(t *testing.T) {
	notQuick(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "deem.db")
	storeToDamage(t, dir, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{
		"report last --json", "report last~1 --json", "list runs --json",
		"export last --format jsonl -o -", "export last~1 --format csv -o -",
	}
	before := make([]string, len(commands))
	for i, command := range commands {
		code, out := runOn(path, command)
		if code != 0 && code != 3 {
			t.Fatalf("%s of a sound store: exit code %d\n%s", command, code, out)
		}
		before[i] = fmt.Sprint(code, out)
	}
	if code, out := runOn(path, "doctor"); code != 0 {
		t.Fatalf("the doctor calls a sound store damaged:\n%s", out)
	}
	r := rand.New(rand.NewPCG(19, 5))
	named, failed, harmless := 0, 0, 0
	for i := range 200 {
		damaged := bytes.Clone(whole)
		what := damage(r, damaged)
		other := filepath.Join(dir, fmt.Sprintf("damaged%d.db", i))
		if err := os.WriteFile(other, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		doctor, says := runOn(other, "doctor")
		changed := false
		for k, command := range commands {
			code, out := runOn(other, command)
			if after := fmt.Sprint(code, out); after == before[k] {
				continue
			}
			changed = true
			if code == 0 || code == 3 {
				if doctor == 0 {
					t.Errorf("%d: after %s, %q prints something else and the doctor says:\n%s", i, what, command, says)
				}
			} else {
				failed++
			}
		}
		switch {
		case doctor != 0:
			named++
		case !changed:
			harmless++
		default:
			t.Errorf("%d: %s makes commands fail, but the doctor says:\n%s", i, what, says)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the doctor named %d of 200, %d changed nothing that is printed, and commands failed %d times", named, harmless, failed)
}

// storeToDamage writes two runs with verdicts, failures, costs, categories, clusters,
// weights and long texts to a store.
func storeToDamage(t *testing.T, dir, path string) {
	t.Helper()
	var n atomic.Int64
	srv := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		return modeltest.Say([]string{"CORRECT", "INCORRECT", "CORRECT", "Hard to tell.", "CORRECT"}[n.Add(1)%5])
	})
	t.Setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
	data := filepath.Join(dir, "items.jsonl")
	var rows bytes.Buffer
	for i := range 60 {
		row, err := json.Marshal(map[string]any{
			"id": fmt.Sprintf("q%d", i), "category": fmt.Sprintf("c%d", i%3), "cluster": fmt.Sprintf("s%d", i%10), "weight": 1 + i%4,
			"question": fmt.Sprintf("Which number is %d?", i), "reference": fmt.Sprint(i), "response": fmt.Sprint(i + i%5/4),
			"fields": map[string]string{"dialogue": strings.Repeat(fmt.Sprintf("turn %d. ", i%10), 200)},
		})
		if err != nil {
			t.Fatal(err)
		}
		rows.Write(append(row, '\n'))
	}
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"run --judge match --data " + data,
		"run --yes --trials 2 --judge universal --model openai:gpt-4o-mini --base-url " + srv.URL + " --data " + data,
	} {
		if code, out := runOn(path, command); code != 0 && code != 3 {
			t.Fatalf("%s: exit code %d\n%s", command, code, out)
		}
	}
}

// runOn runs a command on the store at path, and returns its output.
func runOn(path, command string) (code int, out string) {
	var b bytes.Buffer
	code = cli.Main(append(strings.Fields(command), "--db", path), strings.NewReader(""), &b, io.Discard)
	return code, b.String()
}

// damage changes a file, and returns a description.
func damage(r *rand.Rand, file []byte) string {
	const page = 4096
	pages := len(file) / page
	at, other := r.IntN(pages)*page, r.IntN(pages)*page
	switch r.IntN(6) {
	case 0:
		at = r.IntN(len(file))
		file[at] ^= 1 << r.IntN(8)
		return fmt.Sprintf("a flipped bit in byte %d", at)
	case 1:
		at = r.IntN(len(file))
		file[at] = byte(r.IntN(256))
		return fmt.Sprintf("another byte %d", at)
	case 2: // a digit within a value, which page structure cannot reveal
		for range 10_000 {
			if at = r.IntN(len(file)); '0' <= file[at] && file[at] <= '9' {
				break
			}
		}
		file[at] = '0' + byte(r.IntN(10))
		return fmt.Sprintf("another digit at byte %d", at)
	case 3:
		begin := r.IntN(len(file) - 64)
		for i := range 64 {
			file[begin+i] = byte(r.IntN(256))
		}
		return fmt.Sprintf("64 other bytes at %d", begin)
	case 4:
		copy(file[at:at+page], file[other:other+page])
		return fmt.Sprintf("page %d in the place of page %d", other/page, at/page)
	default:
		clear(file[at : at+page])
		return fmt.Sprintf("an empty page %d", at/page)
	}
}

// TestDamagedPostgres changes rows of a Postgres with SQL. The doctor reports each, and the
// report of the run is refused.
func TestDamagedPostgres(t *testing.T) {
	url := storetest.Start(t, storetest.Options{}).TCP("postgres")
	dir := t.TempDir()
	storeToDamage(t, dir, url)
	if code, out := runOn(url, "doctor"); code != 0 || !strings.Contains(out, "is sound: 2 runs, 180 records") {
		t.Fatalf("the doctor says of a sound store, with exit code %d:\n%s", code, out)
	}
	for _, d := range []struct{ table, change, undo, named string }{
		{"records", "score = 1 - score", "score = 1 - score", "record"},
		{"records", "category = 'c' || category", "category = substr(category, 2)", "record"},
		{"calls", "cost_micros = cost_micros + 1", "cost_micros = cost_micros - 1", "what was counted of run"},
		{"calls", "request = 'a' || request", "request = substr(request, 2)", "call 1 about item"},
		{"items", "body = replace(body, 'number', 'digit')", "body = replace(body, 'digit', 'number')", "item"},
		{"runs", "model = 'a' || model", "model = substr(model, 2)", "run"},
		{"replies", "body = replace(body, 'CORRECT', 'Correct')", "body = replace(body, 'Correct', 'CORRECT')", "call 1 about item"},
	} {
		storetest.Execute(t, url, "UPDATE deem."+d.table+" SET "+d.change)
		if code, out := runOn(url, "doctor"); code != 1 || !strings.Contains(out, "the database is damaged: "+d.named) {
			t.Errorf("%s: %s: the doctor says, with exit code %d:\n%s", d.table, d.change, code, out)
		}
		if code, out := runOn(url, "report last --json"); code != 1 || out != "" {
			t.Errorf("%s: %s: the report says, with exit code %d:\n%s", d.table, d.change, code, out)
		}
		storetest.Execute(t, url, "UPDATE deem."+d.table+" SET "+d.undo)
	}
	if code, out := runOn(url, "doctor"); code != 0 {
		t.Errorf("the doctor says of the mended store, with exit code %d:\n%s", code, out)
	}
}
