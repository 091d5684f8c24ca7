package judge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deem"
)

// A reply is one file of testdata/replies: header lines, a blank line, and the reply, up to
// the last byte. The header says how to read the reply and what the result should be:
//
//	# why this case exists
//	labels: CORRECT | INCORRECT       read with Label
//	key: label                        read with LabelIn instead
//	scales: correctness 0-10 int      read with Aspects; several with |
//	rating: 1-10 int                  read with Rating
//	response: text, \n for a new line masks the reply first
//	want: CORRECT                     the label, or "correctness 8 | relevance 7"
//	how: marked                       the step that finds the label, if it matters
//	fail: truncated                   the kind of failure, instead of want
type reply struct {
	name   string
	header map[string]string
	text   string
}

// readReply reads one case and rejects unknown headers.
func readReply(t *testing.T, path string) reply {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, text, ok := strings.Cut(string(data), "\n\n")
	if !ok {
		t.Fatalf("%s: no blank line after the header", path)
	}
	r := reply{strings.TrimSuffix(filepath.Base(path), ".txt"), map[string]string{}, text}
	known := []string{"labels", "key", "scales", "rating", "response", "want", "how", "fail"}
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || !slices.Contains(known, key) {
			t.Fatalf("%s: unknown header %q", path, line)
		}
		r.header[key] = strings.TrimSpace(value)
	}
	return r
}

// list splits a header value at "|".
func list(s string) []string {
	parts := strings.Split(s, " | ")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// scaleOf reads "0-10 int".
func scaleOf(t *testing.T, s string) Aspect {
	t.Helper()
	span, rest, _ := strings.Cut(s, " ")
	lo, hi, _ := strings.Cut(span, "-")
	low, err1 := strconv.ParseFloat(lo, 64)
	high, err2 := strconv.ParseFloat(hi, 64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatalf("scale %q: %v", s, err)
	}
	return Aspect{Min: low, Max: high, Integer: rest == "int"}
}

// read reads the reply as its header says, and returns the result in the notation of the
// header.
func (r reply) read(t *testing.T) (got, how string, err error) {
	t.Helper()
	text := withoutThinking(r.text)
	if resp, ok := r.header["response"]; ok {
		text = masked(text, strings.ReplaceAll(resp, `\n`, "\n"))
	}
	// Unfinished reasoning is visible only in the reply itself.
	if text == "" {
		text = r.text
	}
	labels := list(r.header["labels"])
	switch h := r.header; {
	case h["scales"] != "":
		scales := map[string]Aspect{}
		for _, s := range list(h["scales"]) {
			name, rest, _ := strings.Cut(s, " ")
			scales[name] = scaleOf(t, rest)
		}
		m, err := findAspects(text, scales)
		return aspects(m), "", err
	case h["rating"] != "":
		x, err := findRating(text, scaleOf(t, h["rating"]))
		return fmt.Sprint(x), "", err
	case h["key"] != "":
		f, err := FindLabel(text, h["key"], labels)
		return f.Label, f.How, err
	}
	f, err := FindLabel(text, "", labels)
	return f.Label, f.How, err
}

// aspects formats numbers as in the header.
func aspects(m map[string]float64) string {
	var parts []string
	for name, x := range m {
		parts = append(parts, fmt.Sprintf("%s %v", name, x))
	}
	slices.Sort(parts)
	return strings.Join(parts, " | ")
}

func TestReplies(t *testing.T) {
	paths, err := filepath.Glob("testdata/replies/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 80 {
		t.Errorf("testdata/replies has %d cases, want at least 80", len(paths))
	}
	for _, path := range paths {
		r := readReply(t, path)
		t.Run(r.name, func(t *testing.T) {
			got, how, err := r.read(t)
			if kind := r.header["fail"]; kind != "" {
				if k := kindOf(err); string(k) != kind {
					t.Errorf("read %q by %q (%v), want the failure %q", got, how, err, kind)
				}
				return
			}
			if err != nil || got != r.header["want"] {
				t.Errorf("read %q by %q (%v), want %q", got, how, err, r.header["want"])
			}
			if want := r.header["how"]; want != "" && how != want {
				t.Errorf("found by %q, want %q", how, want)
			}
		})
	}
}

// kindOf returns the kind of a failure, or "" for anything else.
func kindOf(err error) deem.Kind {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return f.Kind
	}
	return ""
}
