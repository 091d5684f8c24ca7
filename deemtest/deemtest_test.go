package deemtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"deem"
	"deem/deemtest"
)

// A watcher is a testing.TB that records its errors and continues.
type watcher struct {
	testing.TB
	errors []string
	ended  bool
}

func (w *watcher) Helper()                   {}
func (w *watcher) Errorf(f string, a ...any) { w.errors = append(w.errors, fmt.Sprintf(f, a...)) }
func (w *watcher) Fatalf(f string, a ...any) { w.Errorf(f, a...); w.ended = true; panic(w) }
func (w *watcher) Context() context.Context  { return w.TB.Context() }
func watch(t *testing.T, f func(t testing.TB)) *watcher {
	w := &watcher{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(w) {
				panic(r)
			}
		}()
		f(w)
	}()
	return w
}

// scripted judges by the text of the response.
type scripted struct{}

func (scripted) Name() string { return "scripted" }

func (scripted) Judge(_ context.Context, it deem.Item) (deem.Verdict, error) {
	switch it.Response {
	case "half":
		return deem.Verdict{Label: "partly", Score: 0.5, Aspects: map[string]float64{"tone": 3}, Reason: "one of two"}, nil
	case "garbled":
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "no label")
	case "key":
		return deem.Verdict{}, deem.WithHint(errors.New("HTTP 401"), "set the key")
	case "right":
		return deem.Verdict{Label: "yes", Score: 1}, nil
	}
	return deem.Verdict{Label: "no"}, nil
}

func item(id, response string) deem.Item {
	return deem.Item{ID: id, Question: "who?", References: []string{"she"}, Response: response}
}

// TestJudge checks which verdicts fail a test, and the error messages.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		response string
		hold     func(v *deemtest.Verdict)
		want     string // part of the only error message; "" for none
	}{
		{"right", func(v *deemtest.Verdict) { v.AtLeast(1).AtMost(1).Passes().Says("yes") }, ""},
		{"half", func(v *deemtest.Verdict) { v.AtLeast(0.5).Aspect("tone", 3) }, ""},
		{"half", func(v *deemtest.Verdict) { v.AtLeast(0.51) }, "item a: score 0.5, want at least 0.51\n\tjudge      scripted: partly\n\treason     one of two"},
		{"half", func(v *deemtest.Verdict) { v.AtMost(0.4) }, "score 0.5, want at most 0.4"},
		{"half", func(v *deemtest.Verdict) { v.Aspect("tone", 4) }, "tone 3, want at least 4"},
		{"half", func(v *deemtest.Verdict) { v.Aspect("style", 1) }, `nothing of the aspect "style"`},
		{"wrong", func(v *deemtest.Verdict) { v.Passes() }, "item a does not pass"},
		{"wrong", func(v *deemtest.Verdict) { v.Says("yes") }, `label "no", want "yes"`},
		{"wrong", func(v *deemtest.Verdict) { v.Unjudged(deem.Refused) }, "is judged, want a failure of kind refused"},
		{"garbled", func(v *deemtest.Verdict) { v.Unjudged(deem.Unparseable) }, ""},
		{"garbled", func(v *deemtest.Verdict) { v.Unjudged(deem.Refused) }, "want one of kind refused"},
		{"garbled", func(v *deemtest.Verdict) { v.AtLeast(0) }, "unjudged, which is not the same as wrong"},
		{"garbled", func(v *deemtest.Verdict) { v.AtMost(1) }, "unjudged, which is not the same as wrong"},
	} {
		w := watch(t, func(t testing.TB) { tt.hold(deemtest.Judge(t, scripted{}, item("a", tt.response))) })
		switch {
		case tt.want == "" && len(w.errors) > 0:
			t.Errorf("%s: complaints %q, want none", tt.response, w.errors)
		case tt.want != "" && (len(w.errors) != 1 || !strings.Contains(w.errors[0], tt.want)):
			t.Errorf("%s: complaints %q, want one with %q", tt.response, w.errors, tt.want)
		}
	}
}

// TestJudgeEnds checks that an error that ends every run ends the test, with its hint.
func TestJudgeEnds(t *testing.T) {
	for name, f := range map[string]func(t testing.TB){
		"one": func(t testing.TB) { deemtest.Judge(t, scripted{}, item("a", "key")) },
		"all": func(t testing.TB) { deemtest.All(t, scripted{}, []deem.Item{item("a", "key")}) },
	} {
		w := watch(t, f)
		if !w.ended || !strings.Contains(w.errors[0], "HTTP 401\nhint: set the key") {
			t.Errorf("%s: ended %v with %q", name, w.ended, w.errors)
		}
	}
}

// many returns items with the given responses, each repeated the given number of times.
func many(counts ...any) []deem.Item {
	var items []deem.Item
	for i := 0; i < len(counts); i += 2 {
		for range counts[i+1].(int) {
			items = append(items, item(fmt.Sprint("q", len(items)), counts[i].(string)))
		}
	}
	return items
}

// mixed returns items of which every second is right.
func mixed(n int) []deem.Item {
	var items []deem.Item
	for i := range n {
		items = append(items, item(fmt.Sprint("q", i), []string{"right", "wrong"}[i%2]))
	}
	return items
}

// inClusters puts items into clusters of the given size, in order.
func inClusters(size int, items []deem.Item) []deem.Item {
	for i := range items {
		items[i].Cluster = fmt.Sprint("c", i/size)
	}
	return items
}

// TestAll checks the methods of Verdicts.
func TestAll(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []deem.Item
		hold  func(vs *deemtest.Verdicts)
		want  string
	}{
		{"enough", many("right", 9, "wrong", 1), func(vs *deemtest.Verdicts) { vs.AtLeast(0.9) }, ""},
		{"too few", many("right", 8, "wrong", 2), func(vs *deemtest.Verdicts) { vs.AtLeast(0.9) }, "score 0.8 [0.4902, 0.9433] n=10 unjudged=0, want at least 0.9\n\titem q8: no, score 0: \"wrong\""},
		{"chance", many("right", 9, "wrong", 1), func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.9) }, "want its lower end to be at least 0.9"},
		{"sure", many("right", 99, "wrong", 1), func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.9) }, ""},
		{"scores", many("right", 10, "half", 10), func(vs *deemtest.Verdicts) { vs.AtLeast(0.75) }, ""},
		{"unjudged", many("right", 9, "garbled", 1), func(vs *deemtest.Verdicts) { vs.AtLeast(0.9) }, "1 of 10 items are unjudged, which is not the same as wrong: map[unparseable:1]; the first is item q9"},
		{"allowed", many("right", 9, "garbled", 1), func(vs *deemtest.Verdicts) { vs.AllowUnjudged(0.1).AtLeast(1) }, ""},
		{"none", nil, func(vs *deemtest.Verdicts) { vs.AtLeast(0) }, "no item is judged, so there is no score; want at least 0"},
		{"surely none", nil, func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0) }, "no item is judged"},
		{"none judged", many("garbled", 3), func(vs *deemtest.Verdicts) { vs.AtLeast(0) }, "3 of 3 items are unjudged"},
		{"none left", many("garbled", 3), func(vs *deemtest.Verdicts) { vs.AllowUnjudged(1).AtLeast(0) }, "no item is judged"},
		{"alone", many("right", 160, "wrong", 40), func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.73) }, ""},
		{"clusters of one", inClusters(1, many("right", 160, "wrong", 40)), func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.73) }, ""},
		{
			"clusters that differ", inClusters(20, many("right", 160, "wrong", 40)),
			func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.45) }, "score 0.8 [0.4445, 0.9524] n=200",
		},
		{
			"clusters that agree by luck", inClusters(20, mixed(200)),
			func(vs *deemtest.Verdicts) { vs.SurelyAtLeast(0.45) }, "score 0.5 [",
		},
		{"not allowed", many("right", 9, "garbled", 1), func(vs *deemtest.Verdicts) { vs.AllowUnjudged(0.05).AtLeast(1) }, "1 of 10 items are unjudged"},
	} {
		w := watch(t, func(t testing.TB) { tt.hold(deemtest.All(t, scripted{}, tt.items)) })
		switch {
		case tt.want == "" && len(w.errors) > 0:
			t.Errorf("%s: complaints %q, want none", tt.name, w.errors)
		case tt.want != "" && (len(w.errors) != 1 || !strings.Contains(w.errors[0], tt.want)):
			t.Errorf("%s: complaints %q, want one with %q", tt.name, w.errors, tt.want)
		}
	}
}
