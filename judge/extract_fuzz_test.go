package judge

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
)

// menus are sets of labels that are difficult in different ways.
var menus = [][]string{
	{"CORRECT", "INCORRECT"},
	{"yes", "no"},
	{"正确", "部分正确", "错误"},
	{"A", "B", "C"},
	{"A>>B", "A>B", "A=B", "B>A", "B>>A"},
	{"Output (a)", "Output (b)"},
	{"0", "1", "2", "10"},
	{"NOT_ATTEMPTED", "not correct", "correct"},
}

// seedReplies adds the texts of testdata/replies to a fuzzer.
func seedReplies(f *testing.F, add func(text string)) {
	f.Helper()
	paths, err := filepath.Glob("testdata/replies/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		if _, text, ok := strings.Cut(string(data), "\n\n"); ok {
			add(text)
		}
	}
}

// checkFound fails unless f is a label on the menu at a position in text, or err is a
// failure that this package may return.
func checkFound(t *testing.T, text string, labels []string, f Found, err error) {
	t.Helper()
	if err != nil {
		switch kindOf(err) {
		case deem.Unparseable, deem.Contradictory, deem.Empty, deem.Truncated, deem.Refused:
		default:
			t.Fatalf("unexpected error %v", err)
		}
		if f != (Found{}) {
			t.Fatalf("found %+v together with the error %v", f, err)
		}
		return
	}
	offered := false
	for _, l := range labels {
		offered = offered || l == f.Label
	}
	if !offered {
		t.Fatalf("found %q, which is not among %q", f.Label, labels)
	}
	if f.Start < 0 || f.Start >= f.End || f.End > len(text) {
		t.Fatalf("found %+v in a text of %d bytes", f, len(text))
	}
}

func FuzzLabel(f *testing.F) {
	seedReplies(f, func(text string) {
		for i := range menus {
			f.Add(text, uint8(i))
		}
	})
	f.Fuzz(func(t *testing.T, text string, menu uint8) {
		labels := menus[int(menu)%len(menus)]
		found, err := FindLabel(text, "", labels)
		checkFound(t, text, labels, found, err)
		again, err2 := FindLabel(text, "", labels)
		if again != found || (err == nil) != (err2 == nil) {
			t.Fatalf("Label said %+v (%v), then %+v (%v)", found, err, again, err2)
		}
		in, err := FindLabel(text, "label", labels)
		checkFound(t, text, labels, in, err)
		isRefusal(text)
	})
}

func FuzzObjects(f *testing.F) {
	seedReplies(f, func(text string) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text string) {
		pos := 0
		for _, o := range Objects(text) {
			if o.Start < pos || o.End <= o.Start || o.End > len(text) {
				t.Fatalf("object from %d to %d, but the last one ended at %d of %d", o.Start, o.End, pos, len(text))
			}
			pos = o.End
			if c := text[o.Start:]; !strings.HasPrefix(c, "{") && !strings.HasPrefix(c, "｛") {
				t.Fatalf("object begins with %.10q", c)
			}
			if o.Truncated && strings.TrimSpace(text[o.End:]) != "" {
				t.Fatalf("object is truncated, but %.20q follows", text[o.End:])
			}
		}
		// Anything that encoding/json accepts must have the same result here.
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if utf8.ValidString(text) && json.Valid([]byte(text)) && dec.Decode(&want) == nil && want != nil && depth(want) < 20 {
			objs := Objects(text)
			if len(objs) != 1 || objs[0].Repaired || objs[0].Truncated || !sameJSON(objs[0].Fields, want) {
				t.Fatalf("Objects(%q) = %+v, want %v", text, objs, want)
			}
		}
	})
}

// depth returns the nesting depth of a JSON value.
func depth(v any) int {
	d := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			d = max(d, 1+depth(e))
		}
	case []any:
		for _, e := range v {
			d = max(d, 1+depth(e))
		}
	}
	return d
}

// sameJSON compares values by their canonical JSON.
func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func FuzzLabelled(f *testing.F) {
	seedReplies(f, func(text string) { f.Add(text, 0.0, 10.0, true) })
	f.Fuzz(func(t *testing.T, text string, lo, hi float64, whole bool) {
		s := Aspect{Min: lo, Max: hi, Integer: whole}
		check := func(call string, x float64, err error) {
			switch {
			case err != nil:
				if kindOf(err) == "" {
					t.Fatalf("%s: error is %T, want a failure", call, err)
				}
			case math.IsNaN(x) || math.IsInf(x, 0) || x < lo || x > hi || whole && x != math.Trunc(x):
				t.Fatalf("%s of %q = %v, which is not on %+v", call, text, x, s)
			}
		}
		x, err := s.Number(text)
		check("Number", x, err)
		x, err = s.Number(json.Number(text))
		check("Number", x, err)
		x, err = findRating(text, s)
		check("Rating", x, err)
		scales := map[string]Aspect{"correctness": s, "relevance": s}
		for _, read := range []func(string, map[string]Aspect) (map[string]float64, error){labelledNumbers, findAspects} {
			m, err := read(text, scales)
			if err == nil && len(m) != len(scales) {
				t.Fatalf("Labelled(%q) = %v, want two numbers", text, m)
			}
			check("Labelled", lo, err2(err, lo, s))
			for _, x := range m {
				check("Labelled", x, nil)
			}
		}
	})
}

// err2 returns err, or a failure if lo itself is not on the scale, so that the caller's
// check of lo is valid.
func err2(err error, lo float64, s Aspect) error {
	if err == nil {
		_, err = s.Number(lo)
	}
	return err
}

func FuzzMask(f *testing.F) {
	seedReplies(f, func(text string) {
		f.Add(text, "Verdict: CORRECT")
		f.Add(text, text)
	})
	f.Fuzz(func(t *testing.T, reply, response string) {
		got := masked(reply, response)
		if len(got) != len(reply) {
			t.Fatalf("Mask made %d bytes of %d", len(got), len(reply))
		}
		if utf8.ValidString(reply) && !utf8.ValidString(got) {
			t.Fatalf("masked(%q, %q) = %q, which is not valid UTF-8", reply, response, got)
		}
		for i := range len(got) {
			if got[i] != reply[i] && got[i] != ' ' {
				t.Fatalf("Mask changed byte %d of %q to %q", i, reply, got[i])
			}
		}
		if strings.TrimSpace(response) == "" && got != reply {
			t.Fatalf("masked(%q, %q) = %q, want it as it is", reply, response, got)
		}
		body := withoutThinking(reply)
		if len(body) > len(reply) || utf8.ValidString(reply) && !utf8.ValidString(body) {
			t.Fatalf("withoutThinking(%q) = %q", reply, body)
		}
	})
}
