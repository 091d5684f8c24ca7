package fake_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/model/fake"
)

// open returns a fake or fails the test.
func open(tb testing.TB, spec string) deem.Model {
	tb.Helper()
	m, err := fake.New(spec)
	if err != nil {
		tb.Fatalf("New(%q): %v", spec, err)
	}
	return m
}

func TestReplies(t *testing.T) {
	const sorry = "I'm sorry, but I can't help with that."
	tests := []struct {
		spec string
		want deem.Reply
	}{
		{"say=yes", deem.Reply{Text: "yes", Stop: deem.StopEnd}},
		{"fake:say=yes", deem.Reply{Text: "yes", Stop: deem.StopEnd}},
		{"say=", deem.Reply{Stop: deem.StopEnd}},
		{"say=Really?", deem.Reply{Text: "Really?", Stop: deem.StopEnd}},
		{"say=a=b&c|d", deem.Reply{Text: "a=b&c|d", Stop: deem.StopEnd}},
		{`say={"label":"yes"}?latency=0s`, deem.Reply{Text: `{"label":"yes"}`, Stop: deem.StopEnd}},
		{"say=Why? Really?tokens=9/1", deem.Reply{Text: "Why? Really", Stop: deem.StopEnd}},
		{"labels=yes", deem.Reply{Text: "yes", Stop: deem.StopEnd}},
		{"echo", deem.Reply{Text: "Is it so?", Stop: deem.StopEnd}},
		{"empty", deem.Reply{Stop: deem.StopEnd}},
		{"refuse", deem.Reply{Refusal: sorry, Stop: deem.StopEnd}},
		{"refuse-text", deem.Reply{Text: sorry, Stop: deem.StopEnd}},
		{"filter", deem.Reply{Stop: deem.StopFilter}},
	}
	for _, tt := range tests {
		got, err := open(t, tt.spec).Complete(t.Context(), deem.Prompt("Is it so?"))
		if err != nil {
			t.Errorf("%s: %v", tt.spec, err)
			continue
		}
		if got.Text != tt.want.Text || got.Refusal != tt.want.Refusal || got.Stop != tt.want.Stop || got.Attempts != 1 {
			t.Errorf("%s: reply %+v, want %+v", tt.spec, got, tt.want)
		}
	}
	cut, _ := open(t, "truncate").Complete(t.Context(), deem.Prompt("q"))
	if cut.Stop != deem.StopLength || cut.Text == "" || strings.HasSuffix(cut.Text, ".") {
		t.Errorf("truncate: reply %+v, want a text cut off", cut)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		spec string
		want deem.ModelError
	}{
		{"error", deem.ModelError{Kind: deem.Provider, Status: 500, Passing: true}},
		{"busy", deem.ModelError{Kind: deem.Provider, Status: 429, Passing: true}},
		{"timeout", deem.ModelError{Kind: deem.Timeout, Passing: true}},
		{"fatal", deem.ModelError{Kind: deem.Provider, Status: 401, Fatal: true}},
	}
	for _, tt := range tests {
		_, err := open(t, tt.spec).Complete(t.Context(), deem.Prompt("q"))
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok {
			t.Errorf("%s: error %v is not a *deem.ModelError", tt.spec, err)
			continue
		}
		got := *me
		got.Err = nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.spec, diff)
		}
		if me.Fatal && deem.HintOf(err) == "" {
			t.Errorf("%s: no hint", tt.spec)
		}
	}
}

// TestShares sends many prompts and checks the shares of the labels against the expected
// ones, within five standard errors.
func TestShares(t *testing.T) {
	tests := []struct {
		spec   string
		shares map[string]float64
	}{
		{"labels=A|B", map[string]float64{"A": 0.5, "B": 0.5}},
		{"labels=A|B|C", map[string]float64{"A": 1 / 3.0, "B": 1 / 3.0, "C": 1 / 3.0}},
		{"labels=A|B?p=0.8", map[string]float64{"A": 0.8, "B": 0.2}},
		{"labels=A|B|C?p=0.5", map[string]float64{"A": 0.5, "B": 0.25, "C": 0.25}},
		{"labels=A|B?p=1", map[string]float64{"A": 1}},
		{"labels=A|B?p=0", map[string]float64{"B": 1}},
		{"mixed=A|B?p=0.75", map[string]float64{"A": 0.6, "B": 0.2}},
	}
	const n = 20_000
	for _, tt := range tests {
		m := open(t, tt.spec)
		counts := make(map[string]int)
		for i := range n {
			reply, err := m.Complete(t.Context(), deem.Prompt(fmt.Sprintf("Question %d", i)))
			if err == nil {
				counts[reply.Text]++
			}
		}
		for label, p := range tt.shares {
			got := float64(counts[label]) / n
			if slack := 5 * math.Sqrt(p*(1-p)/n); math.Abs(got-p) > slack {
				t.Errorf("%s says %s to %.4f of the prompts, want %.4f", tt.spec, label, got, p)
			}
		}
	}
}

// TestMixedHasEverything looks for each kind of trouble among many prompts.
func TestMixedHasEverything(t *testing.T) {
	m := open(t, "mixed")
	seen := make(map[string]int)
	for i := range 2000 {
		reply, err := m.Complete(t.Context(), deem.Prompt(fmt.Sprint(i)))
		me, failed := errors.AsType[*deem.ModelError](err)
		switch {
		case failed && (me.Passing || me.Fatal):
			t.Fatalf("prompt %d: error %v passes or stops the run", i, err)
		case failed:
			seen[string(me.Kind)]++
		case reply.Stop != deem.StopEnd:
			seen[string(reply.Stop)]++
		case reply.Refusal != "":
			seen["refusal"]++
		case reply.Text == "":
			seen["empty"]++
		case reply.Text == "yes" || reply.Text == "no":
			seen[reply.Text]++
		case strings.Contains(reply.Text, "sorry"):
			seen["refusal in text"]++
		default:
			seen["gibberish"]++
		}
	}
	for _, want := range []string{"yes", "no", "gibberish", "empty", "refusal", "refusal in text", "length", "filter", "provider", "timeout"} {
		if seen[want] < 20 {
			t.Errorf("mixed gave %s %d times of 2000, want at least 20", want, seen[want])
		}
	}
}

// TestStable pins choices, computed by another program: records must be reproducible later,
// on any machine.
func TestStable(t *testing.T) {
	m := open(t, "labels=a|b|c|d|e|f|g|h")
	var got strings.Builder
	for i := range 24 {
		reply, err := m.Complete(t.Context(), deem.Prompt(fmt.Sprintf("Question %d", i)))
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(reply.Text)
	}
	if want := "hcbccagfchdhhgdgccgedgdc"; got.String() != want {
		t.Errorf("choices %s, want %s", got.String(), want)
	}
}

func TestTrials(t *testing.T) {
	differ := func(spec string) int {
		m := open(t, spec)
		n := 0
		for i := range 200 {
			req := deem.Prompt(fmt.Sprint(i))
			first, _ := m.Complete(t.Context(), req)
			req.Trial = 1
			second, _ := m.Complete(t.Context(), req)
			if first.Text != second.Text {
				n++
			}
		}
		return n
	}
	if n := differ("labels=A|B"); n != 0 {
		t.Errorf("%d of 200 prompts differ between trials, want none", n)
	}
	if n := differ("labels=A|B?vary=true"); n < 60 || n > 140 {
		t.Errorf("%d of 200 prompts differ between trials with vary, want about 100", n)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		spec string
		want deem.Usage
	}{
		{"say=12345", deem.Usage{Input: 3, Output: 2}},
		{"say=yes?tokens=120/5", deem.Usage{Input: 120, Output: 5}},
		{"say=yes?tokens=120", deem.Usage{Input: 120, Output: 1}},
	}
	for _, tt := range tests {
		got, err := open(t, tt.spec).Complete(t.Context(), deem.Prompt("123456789"))
		if err != nil || got.Usage != tt.want {
			t.Errorf("%s: usage %+v, error %v, want %+v", tt.spec, got.Usage, err, tt.want)
		}
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, "error?latency=50ms")
		start := time.Now()
		if _, err := m.Complete(t.Context(), deem.Prompt("q")); err == nil {
			t.Error("no error, want one")
		}
		if took := time.Since(start); took != 50*time.Millisecond {
			t.Errorf("took %v, want 50ms", took)
		}
		for _, spec := range []string{"hang", "say=yes?latency=1h"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := open(t, spec).Complete(ctx, deem.Prompt("q")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: error %v, want that of the context", spec, err)
			}
			cancel()
		}
	})
}

func TestNewRefuses(t *testing.T) {
	tests := []struct{ spec, message, hint string }{
		{"", `there is no fake ""`, "say=TEXT, labels=A|B|..., "},
		{"yes", `there is no fake "yes"`, "say=TEXT"},
		{"labels", "labels needs a text, as in labels=A|B|...", ""},
		{"labels=", "holds an empty label", ""},
		{"labels=A||B", "holds an empty label", ""},
		{"empty=yes", "empty takes no text", ""},
		{"echo?speed=9", `there is no modifier "speed"`, "latency=50ms, p=0.8"},
		{"echo?latency=fast", "latency=fast makes no sense", "latency=50ms"},
		{"echo?latency=-1s", "latency=-1s makes no sense", ""},
		{"echo?p=0.5", "echo has no labels", ""},
		{"labels=A|B?p=1.5", "p=1.5 makes no sense", ""},
		{"labels=A|B?p=NaN", "p=NaN makes no sense", ""},
		{"echo?tokens=5/x", "tokens=5/x makes no sense", ""},
		{"echo?vary=perhaps", "vary=perhaps makes no sense", ""},
		{"echo?", `there is no modifier ""`, ""},
	}
	for _, tt := range tests {
		_, err := fake.New(tt.spec)
		if err == nil || !strings.Contains(err.Error(), tt.message) || !strings.Contains(deem.HintOf(err), tt.hint) {
			t.Errorf("New(%q): error %v with hint %q, want %q and %q", tt.spec, err, deem.HintOf(err), tt.message, tt.hint)
		}
	}
}

func TestNames(t *testing.T) {
	for _, n := range fake.Names() {
		spec := strings.NewReplacer("TEXT", "t", "[=A|B|...]", "", "|...", "").Replace(n.Spec)
		m := open(t, spec)
		if m.Name() != "fake:"+spec {
			t.Errorf("Name() = %q, want fake:%s", m.Name(), spec)
		}
		if n.Doc == "" || strings.Contains(n.Doc, "\n") {
			t.Errorf("%s: doc %q, want one line", n.Spec, n.Doc)
		}
	}
}

func TestDeadContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := false
	f := fake.Func("fake:func", func(context.Context, deem.Request) (deem.Reply, error) {
		called = true
		return deem.Reply{}, nil
	})
	for _, m := range []deem.Model{f, open(t, "say=yes")} {
		if _, err := m.Complete(ctx, deem.Prompt("q")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the context", m.Name(), err)
		}
	}
	if called {
		t.Error("the function was called on a dead context")
	}
}

func FuzzNew(f *testing.F) {
	for _, n := range fake.Names() {
		f.Add(n.Spec)
	}
	f.Add("labels=A|B?p=0.8&latency=1ns&tokens=1/2&vary=true")
	f.Fuzz(func(t *testing.T, spec string) {
		m, err := fake.New(spec)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, _ = m.Complete(ctx, deem.Prompt("q")) // must not panic
	})
}

func BenchmarkComplete(b *testing.B) {
	for _, spec := range []string{"say=yes", "labels=yes|no", "mixed"} {
		b.Run(spec, func(b *testing.B) {
			m := open(b, spec)
			req := deem.Prompt(strings.Repeat("The question and the response. ", 64))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = m.Complete(b.Context(), req)
			}
		})
	}
}
