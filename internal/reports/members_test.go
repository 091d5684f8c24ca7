package reports_test

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/judge/panel"
)

const (
	none = panel.VoteNone
	no   = panel.VoteNo
	yes  = panel.VoteYes
)

// writeText writes the document of a single report as text.
func writeText(w io.Writer, r interface{ AddTo(d *doc.Document) }) error {
	d := &doc.Document{}
	r.AddTo(d)
	return doc.Text(w, d, doc.TextOptions{Detail: true})
}

func TestPanel(t *testing.T) {
	b := reports.NewPanel([]string{"a", "b", "c"}, "majority", false)
	b.Add(deem.Item{}, []panel.Vote{yes, yes, yes}, yes)
	b.Add(deem.Item{}, []panel.Vote{yes, no, yes}, yes)
	b.Add(deem.Item{}, []panel.Vote{no, yes, none}, none) // a tie counts for agreement, too
	b.Add(deem.Item{}, []panel.Vote{none, none, no}, none)
	r := b.Panel()
	if r.Items != 4 || r.NoVerdict != 2 || r.Unanimous.N != 3 || math.Abs(r.Unanimous.Value-1.0/3) > 1e-12 {
		t.Errorf("%d items, %d without a verdict, unanimous %+v, want 4, 2, and 1 of 3", r.Items, r.NoVerdict, r.Unanimous)
	}
	if want := (0 + 2.0/3 + 1) / 3; math.Abs(r.Flips.Value-want) > 1e-12 {
		t.Errorf("flips %v, want %v", r.Flips.Value, want)
	}
	var got []int
	for _, m := range r.Members {
		got = append(got, m.Voted, m.Abstained, m.YesRate.N, m.WithPanel.N, int(math.Round(m.WithPanel.Value*float64(m.WithPanel.N))))
	}
	if diff := cmp.Diff([]int{3, 1, 3, 2, 2, 3, 1, 3, 2, 1, 3, 1, 3, 2, 2}, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	var agreed []int
	for _, p := range r.Pairs {
		agreed = append(agreed, int(math.Round(p.Agreement.Value*float64(p.Agreement.N))), p.Agreement.N)
	}
	if diff := cmp.Diff([]int{1, 3, 2, 2, 1, 2}, agreed); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

// TestPanelText checks that every number has its interval, and that names cannot move a
// terminal's cursor.
func TestPanelText(t *testing.T) {
	b := reports.NewPanel([]string{"a\x1b[2J", "b"}, "veto", false)
	for range 40 {
		b.Add(deem.Item{}, []panel.Vote{yes, yes}, yes)
		b.Add(deem.Item{}, []panel.Vote{no, yes}, no)
	}
	var text strings.Builder
	if err := writeText(&text, b.Panel()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 judges by veto", "unanimous  50.0% [", "alpha      -0.3", "100.0% ["} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Errorf("an escape sequence in:\n%q", text.String())
	}
	empty := reports.NewPanel([]string{"a", "b"}, "majority", true).Panel()
	if err := writeText(&text, empty); err != nil || empty.Items != 0 {
		t.Errorf("an empty panel: %v, %+v", err, empty)
	}
}

// A value that was not measured is not printed as a number: neither the alpha of members
// who never differ, nor the share of a member that never voted.
func TestPanelTextOfNothing(t *testing.T) {
	agree := reports.NewPanel([]string{"a", "b"}, "majority", false)
	apart := reports.NewPanel([]string{"a", "b"}, "majority", false)
	for range 40 {
		agree.Add(deem.Item{}, []panel.Vote{yes, yes}, yes)
		apart.Add(deem.Item{}, []panel.Vote{yes, none}, yes)
	}
	for _, tt := range []struct {
		b         *reports.PanelBuilder
		want, not string
	}{
		{agree, "alpha is not defined for these ratings: all ratings that can be paired are equal", "0.000"},
		{apart, "no item has two votes", "50.0%"},
		{apart, "no estimate", "0.000"},
	} {
		var text strings.Builder
		if err := writeText(&text, tt.b.Panel()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("want %q and not %q in:\n%s", tt.want, tt.not, text.String())
		}
	}
}

func TestCascade(t *testing.T) {
	mark := 0.9
	r := reports.Cascade{
		Stages: []reports.Stage{
			{Name: "match", Threshold: &mark}, {Name: "small", Models: []string{"m1"}, Threshold: &mark}, {Name: "large", Models: []string{"m2"}},
		},
		Promise: &reports.Promise{Alpha: 0.05, Delta: 0.05, Fitted: []reports.Fitted{{Stage: "match", Labelled: 300, Decided: 200, Wrong: 2, Bound: 0.03}}},
	}
	asked := func(model string, micros int64) deem.Call {
		return deem.Call{Model: model, Reply: &deem.Reply{CostMicros: micros}}
	}
	for range 6 {
		r.Add(1, nil)
	}
	r.Add(2, []deem.Call{asked("m1", 10)})
	r.Add(3, []deem.Call{asked("m1", 10), asked("m2", 500)})
	r.Add(3, []deem.Call{asked("m1", 10), asked("m2", 300)})
	r.Add(0, []deem.Call{asked("m1", 10), asked("m2", 400)})
	r.Finish()
	var got []int
	for _, s := range r.Stages {
		got = append(got, s.Reached, s.Decided, s.Calls, int(s.CostMicros))
	}
	if diff := cmp.Diff([]int{10, 6, 0, 0, 4, 1, 4, 40, 3, 2, 3, 1200}, got); diff != "" {
		t.Errorf("stages: reached, decided, calls, cost (-want +got):\n%s", diff)
	}
	want := &reports.Saved{Stage: "large", Items: 7, Calls: 7, CostMicros: 2800}
	if diff := cmp.Diff(want, r.Saved); diff != "" || r.Undecided != 1 {
		t.Errorf("nobody %d, saved (-want +got):\n%s", r.Undecided, diff)
	}
	var text strings.Builder
	if err := writeText(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 stages, 10 items, 1 decided by none", "60.0% [", "about 7 calls", "at least 95.0% of what", "198 of 200 decided among 300 labels; at least 97.0%"} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}
