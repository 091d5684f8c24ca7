package agree_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/agree"
	"deem/judge/rule"
)

// judged yields 400 records of a judge that accepts all right answers, six of ten, and two of
// the four wrong ones.
func judged(yield func(deem.Record, error) bool) {
	for i := range 400 {
		v := &deem.Verdict{Label: "no"}
		if i%10 < 8 {
			v = &deem.Verdict{Label: "yes", Score: 1}
		}
		if !yield(deem.Record{Item: deem.Item{ID: fmt.Sprint("q", i)}, Position: i, Verdict: v}, nil) {
			return
		}
	}
}

func labels(t *testing.T, format string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,label\n")
	for i := range 100 {
		word := "incorrect"
		if i%10 < 6 {
			word = "correct"
		}
		fmt.Fprintf(&text, format, i, word)
	}
	name := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPeople corrects the score of a lenient judge.
func TestPeople(t *testing.T) {
	j := rule.Exact()
	a, err := agree.People(j, judged, labels(t, "q%d,%s\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d %d %d: agreement %.2f, false accepts %.2f, false rejects %.2f, score %.2f, corrected %.2f",
		a.Items, a.Judged, a.Labelled, a.Agreement.Value, a.FalseAccept.Value, a.FalseReject.Value, a.Score.Value, a.Corrected.Value)
	if want := "400 400 100: agreement 0.80, false accepts 0.50, false rejects 0.00, score 0.80, corrected 0.60"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var text, data bytes.Buffer
	if err := errors.Join(a.Text(&text), a.JSON(&data)); err != nil || !strings.Contains(text.String(), "80.0%") || !strings.Contains(data.String(), `"deem.agreement/1"`) {
		t.Errorf("%v\n%s\n%s", err, &text, &data)
	}
}

// TestPeopleErrors checks what cannot be compared.
func TestPeopleErrors(t *testing.T) {
	j := rule.Exact()
	broken := errors.New("the run cannot go on")
	var stopped iter.Seq2[deem.Record, error] = func(yield func(deem.Record, error) bool) { yield(deem.Record{}, broken) }
	if _, err := agree.People(j, stopped, labels(t, "q%d,%s\n")); !errors.Is(err, broken) {
		t.Errorf("the error of the run becomes %v", err)
	}
	if _, err := agree.People(j, judged, labels(t, "other%d,%s\n")); err == nil || !strings.Contains(err.Error(), "the same ids") {
		t.Errorf("labels of other items: %v", err)
	}
	if _, err := agree.People(j, judged, "missing.csv"); err == nil {
		t.Error("a missing file causes no error")
	}
}
