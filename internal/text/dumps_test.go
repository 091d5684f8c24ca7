package text_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"deem/internal/text"
)

// TestDumps compares with CPython 3.11. Each line of the file has a text that we wrote or
// generated, and the result of json.dumps(json.loads(in)).
func TestDumps(t *testing.T) {
	f, err := os.Open("testdata/dumps.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // the file was only read
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); n++ {
		var c struct {
			In, Out string
			Error   bool
		}
		if err := json.Unmarshal(sc.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got, err := text.Dumps([]byte(c.In))
		if got != c.Out || (err != nil) != c.Error {
			t.Errorf("Dumps(%q) = %q, %v, want %q, error %v", c.In, got, err, c.Out, c.Error)
		}
	}
	if n < 100 {
		t.Errorf("%d texts were compared, want 100 at least", n)
	}
}

func TestDumpsRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"not UTF-8": "\"\xff\"",
		"too deep":  strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		if got, err := text.Dumps([]byte(in)); err == nil {
			t.Errorf("%s: Dumps gave %.20q, want an error", name, got)
		}
	}
}

// FuzzDumps checks that Dumps accepts all JSON, that its output is ASCII with the same
// meaning, and that a second pass changes nothing.
func FuzzDumps(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"é"],"a":null}`, `"\ud83d\ude00\ud800"`, `[NaN,-0,1e400]`, `{"a`, `-`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := text.Dumps([]byte(in))
		if err != nil {
			if json.Valid([]byte(in)) && text.Strip(in) != "" && strings.ToValidUTF8(in, "") == in {
				t.Fatalf("Dumps(%q): %v, and it is JSON", in, err)
			}
			return
		}
		if again, err := text.Dumps([]byte(got)); err != nil || again != got {
			t.Fatalf("Dumps(%q) = %q, and again %q, %v", in, got, again, err)
		}
		for i := range len(got) {
			if got[i] < ' ' || got[i] > '~' {
				t.Fatalf("Dumps(%q) = %q is not plain ASCII", in, got)
			}
		}
	})
}
