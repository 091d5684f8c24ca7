package cli

import (
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/run"
	"deem/internal/store"
)

func TestNumbersInWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{perSecond(3.14159), "3.14/s"},
		{perSecond(12345.6), "12,345/s"},
		{roughly(0), "1s"},
		{roughly(59 * time.Second), "60s"},
		{roughly(200 * time.Second), "3m20s"},
		{roughly(125 * time.Minute), "2h5m"},
		{percent(0), "0%"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCommandLineCanBePasted(t *testing.T) {
	got := commandLine([]string{"run", "--fresh", "--data", "my file.jsonl", "--map", "a=b", "--judge", "it's", ""})
	if want := `deem run --data 'my file.jsonl' --map a=b --judge 'it'\''s' ''`; got != want {
		t.Errorf("commandLine = %s, want %s", got, want)
	}
}

// The progress line has the progress, rate, remaining time, and failures.
func TestProgressLine(t *testing.T) {
	p := &progress{total: 1000, before: 100, done: 300, started: clock().Add(-100 * time.Second), unjudged: map[deem.Kind]int{deem.Refused: 2, deem.Empty: 1}}
	got := p.line()
	for _, want := range []string{"400 of 1,000", "/s", "about 3m", "3 unjudged (refused 2, empty 1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("line %q lacks %q", got, want)
		}
	}
	if got := (&progress{total: 5, started: clock(), unjudged: map[deem.Kind]int{}}).line(); got != "0 of 5" {
		t.Errorf("line before the first record: %q", got)
	}
}

// Without a terminal, no bar is drawn and progress ends with one line.
func TestProgressWithoutATerminal(t *testing.T) {
	var w strings.Builder
	a := &app{err: &w}
	p := a.startProgress(&run.Run{Run: store.Run{Spec: store.Spec{Dataset: store.DatasetSpec{Items: 2}}}}, runOptions{wayOptions: wayOptions{Options: run.Options{Trials: 1}}})
	p.add(deem.Record{Verdict: &deem.Verdict{}})
	p.add(deem.Record{Failure: deem.Failf(deem.Empty, "x")})
	p.stop()
	if got := w.String(); !strings.HasPrefix(got, "deem: 2 of 2, ") || !strings.HasSuffix(got, "1 unjudged (empty 1)\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("progress said %q", got)
	}
}
