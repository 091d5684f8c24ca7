package reports_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/report"
)

// judgeFunc is a judge made of a function.
type judgeFunc func(it deem.Item) (deem.Verdict, error)

func (f judgeFunc) Name() string { return "test" }

func (f judgeFunc) Judge(_ context.Context, it deem.Item) (deem.Verdict, error) { return f(it) }

// equal is a rule: the response equals one of the references.
var equal = judgeFunc(func(it deem.Item) (deem.Verdict, error) {
	for _, ref := range it.References {
		if ref == it.Response {
			return verdict(true), nil
		}
	}
	return verdict(false), nil
})

// mute is a judge that would have to call a model.
var mute = judgeFunc(func(deem.Item) (deem.Verdict, error) {
	return deem.Verdict{}, deem.Failf("unasked", "the model was never asked about this item")
})

func verdict(right bool) deem.Verdict {
	if right {
		return deem.Verdict{Label: "yes", Score: 1}
	}
	return deem.Verdict{Label: "no"}
}

// The key says "old" for every item. It is wrong for the last two: for one, "new" is right,
// and for the other the right answer is unknown.
const twoFaults = `{"id": "c", "kind": "stale", "corrected": "new"}
{"id": "d", "kind": "cannot be answered"}
{"id": "a", "kind": "wrong citation", "corrected": "old"}
`

// records returns the verdicts of equal on the responses to items a, b, c and so on, in two
// categories.
func records(responses ...string) []deem.Record {
	var list []deem.Record
	for i, response := range responses {
		id := string(rune('a' + i))
		rec := deem.Record{
			Item:     deem.Item{ID: id, Category: []string{"dull", "odd"}[min(i/2, 1)], References: []string{"old"}, Response: response},
			Position: i, Judge: "equal",
		}
		if response == "" {
			rec.Failure = deem.Failf(deem.Empty, "nothing")
		} else {
			v := verdict(response == "old")
			rec.Verdict = &v
		}
		list = append(list, rec)
	}
	return list
}

func reportOf(t testing.TB, list string, judge deem.Judge, recs []deem.Record) reports.ErrataReport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "errata.jsonl")
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := reports.ReadErrata(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	var items []deem.Item
	for _, rec := range recs {
		items = append(items, rec.Item)
	}
	m, err := e.Match(each(items...))
	if err != nil {
		t.Fatal(err)
	}
	b := reports.NewErrata(m, report.Head{Complete: true, Items: len(recs)}, judge)
	for _, rec := range recs {
		if err := b.Add(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	return b.Report()
}

// values returns the five numbers of a line; "-" is a withheld one.
func values(l reports.ErrataLine) string {
	var parts []string
	for _, f := range []report.Figures{l.Published, l.Sound, l.Wrong, l.Corrected} {
		part := "-"
		if f.Judged != nil {
			part = fmt.Sprintf("%.3f/%d", f.Judged.Value, f.Judged.N)
		}
		parts = append(parts, part)
	}
	return strings.Join(append(parts, fmt.Sprintf("%.3f/%d", l.Ceiling.Value, l.Ceiling.N)), " ")
}

// TestNumbers computes small runs by hand: published, sound, wrong reference, corrected
// and ceiling, each with its n.
func TestNumbers(t *testing.T) {
	tests := []struct {
		name      string
		judge     deem.Judge
		responses []string
		overall   string
		odd       string // the category with the errors
	}{
		{"right where the key is wrong", equal, []string{"old", "old", "new", "none"}, "0.500/4 1.000/2 0.000/2 1.000/3 0.500/4", "0.000/2 - 0.000/2 1.000/1 0.000/2"},
		{"right as the key has it", equal, []string{"old", "no", "old", "old"}, "0.750/4 0.500/2 1.000/2 0.333/3 0.500/4", "1.000/2 - 1.000/2 0.000/1 0.000/2"},
		{"no judge", nil, []string{"old", "old", "new", "none"}, "0.500/4 1.000/2 0.000/2 - 0.500/4", "0.000/2 - 0.000/2 - 0.000/2"},
		{"a judge that was not asked", mute, []string{"old", "old", "new", "none"}, "0.500/4 1.000/2 0.000/2 - 0.500/4", "0.000/2 - 0.000/2 - 0.000/2"},
		{"unjudged with the wrong reference", equal, []string{"old", "old", "", "none"}, "- 1.000/2 - 0.667/3 0.500/4", "- - - 0.000/1 0.000/2"},
		{"a sound one unjudged", equal, []string{"", "old", "new", "none"}, "- - 0.000/2 - 0.500/4", "- - 0.000/2 - 0.000/2"},
	}
	for _, tt := range tests {
		r := reportOf(t, twoFaults, tt.judge, records(tt.responses...))
		if got := values(r.Overall); got != tt.overall {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.overall)
		}
		if len(r.Categories) != 1 || r.Categories[0].Category != "odd" || r.Whole != 1 {
			t.Errorf("%s: categories %+v and %d without faults, want odd and 1", tt.name, r.Categories, r.Whole)
			continue
		}
		if got := values(r.Categories[0]); got != tt.odd {
			t.Errorf("%s: odd %s, want %s", tt.name, got, tt.odd)
		}
	}
}

// TestRejudged checks the counts of the items with a wrong reference.
func TestRejudged(t *testing.T) {
	failing := judgeFunc(func(deem.Item) (deem.Verdict, error) { return deem.Verdict{}, deem.Failf(deem.Unsure, "hm") })
	for _, tt := range []struct {
		name     string
		judge    deem.Judge
		response string
		want     reports.ErrataRejudged
	}{
		{"better", equal, "new", reports.ErrataRejudged{Items: 1, Judged: 1, Better: 1, NoReference: 1}},
		{"worse", equal, "old", reports.ErrataRejudged{Items: 1, Judged: 1, Worse: 1, NoReference: 1}},
		{"same", equal, "other", reports.ErrataRejudged{Items: 1, Judged: 1, NoReference: 1}},
		{"unjudged", failing, "new", reports.ErrataRejudged{Items: 1, Unjudged: 1, NoReference: 1}},
		{"unasked", mute, "new", reports.ErrataRejudged{Items: 1, Unasked: 1, NoReference: 1, CostMicros: 30}},
	} {
		recs := records("old", "old", tt.response, "x")
		recs[2].Calls = []deem.Call{{Reply: &deem.Reply{CostMicros: 10}}, {Error: "late"}, {Reply: &deem.Reply{CostMicros: 20}}}
		if diff := cmp.Diff(tt.want, reportOf(t, twoFaults, tt.judge, recs).Rejudged); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestTrials checks that only the first trial counts.
func TestTrials(t *testing.T) {
	recs := records("old", "old", "new", "x")
	again := recs[0]
	again.Trial, again.Verdict = 1, &deem.Verdict{Label: "no"}
	if got, want := values(reportOf(t, twoFaults, equal, append(recs, again)).Overall), "0.500/4 1.000/2 0.000/2 1.000/3 0.500/4"; got != want {
		t.Errorf("numbers %s, want %s", got, want)
	}
}

// TestPassMark checks that the ceiling uses the metric of the run.
func TestPassMark(t *testing.T) {
	recs := records("old", "old", "new", "x")
	for i := range recs {
		pass := recs[i].Verdict.Score == 1
		recs[i].Verdict.Score, recs[i].Verdict.Pass = 0.4+0.2*recs[i].Verdict.Score, &pass
	}
	l := reportOf(t, twoFaults, nil, recs).Overall
	if l.Published.Metric != doc.PassRate || l.Published.Judged.Value != 0.5 || l.Ceiling.Value != 0.5 {
		t.Errorf("%s %v, ceiling %v, want pass rate 0.5, ceiling 0.5", l.Published.Metric, l.Published.Judged.Value, l.Ceiling.Value)
	}
}

// TestJudgeEnds checks that an error that is not a failure of one item is returned.
func TestJudgeEnds(t *testing.T) {
	broken := errors.New("disk on fire")
	judge := judgeFunc(func(deem.Item) (deem.Verdict, error) { return deem.Verdict{}, broken })
	recs := records("old", "old", "new")
	e := read(t, write(t, "l.jsonl", twoFaults), nil)
	b := reports.NewErrata(match(t, e, recs[2].Item), report.Head{}, judge)
	if err := b.Add(t.Context(), recs[2]); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestMatchEnds checks that the error of the items is returned.
func TestMatchEnds(t *testing.T) {
	broken := errors.New("disk on fire")
	e := read(t, write(t, "l.jsonl", twoFaults), nil)
	if _, err := e.Match(func(yield func(deem.Item, error) bool) { yield(deem.Item{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestLaws checks for any run and any errors that the score is between that of the sound
// items and that of the others, that the ceiling is the share of the sound items, and that
// a score above it requires items with a wrong reference that were judged right.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		responses := make([]string, n)
		for i := range responses {
			responses[i] = rapid.SampledFrom([]string{"old", "new", "x"}).Draw(rt, "response")
		}
		var list strings.Builder
		faults := 0
		for i := range n {
			if rapid.Bool().Draw(rt, "fault") {
				faults++
				fmt.Fprintf(&list, "{\"id\": %q, \"corrected\": \"new\"}\n", string(rune('a'+i)))
			}
		}
		list.WriteString(`{"id": "none"}`)
		r := reportOf(t, list.String(), equal, records(responses...))
		l := r.Overall
		if want := float64(n-faults) / float64(n); l.Ceiling.Value != want || l.Faulty != faults {
			rt.Errorf("ceiling %v with %d faulty, want %v with %d", l.Ceiling.Value, l.Faulty, want, faults)
		}
		if l.Above() && r.Accepted == 0 {
			rt.Errorf("score %v above the ceiling %v, and no wrong reference was met", l.Published.Judged.Value, l.Ceiling.Value)
		}
		if s, w := l.Sound.Judged, l.Wrong.Judged; s != nil && w != nil {
			if v := l.Published.Judged.Value; v < min(s.Value, w.Value)-1e-9 || v > max(s.Value, w.Value)+1e-9 {
				rt.Errorf("score %v outside %v and %v", v, s.Value, w.Value)
			}
		}
		if l.Corrected.Judged.N != n || r.Rejudged.Judged != faults {
			rt.Errorf("corrected over %d, %d judged again, want %d and %d", l.Corrected.Judged.N, r.Rejudged.Judged, n, faults)
		}
	})
}

// TestText compares the text with golden files.
func TestText(t *testing.T) {
	tests := []struct {
		name  string
		list  string
		judge deem.Judge
		recs  []deem.Record
	}{
		{"rule", twoFaults, equal, records("old", "no", "new", "none")},
		{"above", twoFaults, equal, records("old", "old", "old", "old")},
		{"unasked", twoFaults, mute, records("old", "old", "new", "none")},
		{"other_dataset", `{"id": "z", "corrected": "x"}`, equal, records("old", "old")},
		{"mended", `{"id": "a", "corrected": "old"}
{"id": "b\u001b[31m", "kind": "\u001b[31mred"}
{"id": "c", "kind": "\u001b[31mred", "corrected": "new"}`, equal, records("old", "old", "new")},
	}
	for _, tt := range tests {
		var b strings.Builder
		if err := writeText(&b, reportOf(t, tt.list, tt.judge, tt.recs)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "errata", tt.name+".txt.golden")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", file, diff)
		}
	}
}
