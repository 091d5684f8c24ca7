package sqlite_test

import (
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/store/sqlite"
)

// FuzzSearch searches records for arbitrary text. No text is interpreted as a query
// syntax, and a text that contains a word and is copied from a record finds that record.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{`"`, "a*", "NEAR(a b)", "x OR y", "-a", "col:a", "^a", "{a}", "a\x00b", "東京", "'; DROP TABLE runs; --", "é É", "\xff", "a + b", `"a" NOT "b"`, "ﬁ ß İ"} {
		f.Add(seed)
	}
	s, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "deem.db"), sqlite.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Errorf("Close: %v", err)
		}
	})
	n := 0
	f.Fuzz(func(t *testing.T, text string) {
		n++
		spec := store.Spec{Judge: store.JudgeSpec{Name: "j", Hash: "j"}, Dataset: store.DatasetSpec{Hash: deem.Item{ID: text, Weight: float64(n)}.Hash()}, Trials: 1}
		run, _, err := s.Begin(t.Context(), spec, true)
		if err != nil {
			t.Fatal(err)
		}
		recs := []deem.Record{
			{Item: deem.Item{ID: "a", Question: text}, Verdict: &deem.Verdict{Label: "yes", Score: 1}},
			{Item: deem.Item{ID: "b", Question: "something else"}, Position: 1, Verdict: &deem.Verdict{Label: "no"}},
		}
		if err := s.Append(t.Context(), run.ID, recs); err != nil {
			t.Fatal(err)
		}
		counts, err := s.Count(t.Context(), run.ID, store.View{Text: text})
		if err != nil {
			t.Fatalf("Count(%q): %v", text, err)
		}
		if counts.Total == 0 {
			t.Errorf("%q is not found in the record that holds it", text)
		}
	})
}
