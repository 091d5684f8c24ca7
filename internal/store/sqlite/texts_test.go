package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// withText returns a record with the given texts.
func withText(i int, response, dialogue string) deem.Record {
	rec := storetest.Record(i)
	rec.Item.Response, rec.Calls = response, nil
	rec.Item.Fields = map[string]string{"dialogue": dialogue}
	return rec
}

// TestTextsOnce checks that each long text is stored once: within an append, and across
// appends and runs.
func TestTextsOnce(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	const texts = 100
	dialogue := func(i int) string { return storetest.Text(fmt.Sprint("dialogue ", i), store.LongBytes) }
	for _, name := range []string{"", "other"} {
		run, _, err := s.Begin(t.Context(), storetest.Spec(name), false)
		if err != nil {
			t.Fatal(err)
		}
		recs := make([]deem.Record, 0, texts)
		for i := range texts {
			recs = append(recs, withText(i, name, dialogue(i)))
		}
		recs = append(recs, withText(texts, dialogue(0), dialogue(0)))
		for range 2 {
			if err := s.Append(t.Context(), run.ID, recs); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Append(t.Context(), run.ID, recs[:10]); err != nil {
			t.Fatal(err)
		}
		if got := count(t, s, "texts"); got != texts {
			t.Errorf("%d texts, want %d", got, texts)
		}
	}
	// The last item of each run has only shared texts, so it is one item.
	if got := count(t, s, "items"); got != 2*texts+1 {
		t.Errorf("%d items, want %d", got, 2*texts+1)
	}
}

// TestTextsUndone checks that the number of a text whose append was rolled back is
// forgotten: the next text gets it.
func TestTextsUndone(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	first, second := storetest.Text("first", store.LongBytes), storetest.Text("second", store.LongBytes)
	if _, err := s.write.conn.ExecContext(t.Context(), `CREATE TEMP TRIGGER refuse BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{withText(0, "a", first)}); err == nil {
		t.Fatal("Append gave no error")
	}
	if _, err := s.write.conn.ExecContext(t.Context(), `DROP TRIGGER refuse`); err != nil {
		t.Fatal(err)
	}
	want := []deem.Record{withText(0, "a", second), withText(1, "a", first)}
	for _, rec := range want {
		if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	var got []deem.Record
	for rec, err := range s.Records(t.Context(), run.ID, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records differ (-want +got):\n%s", d)
	}
}

// TestTextsMissing checks that a missing text is an error and never an empty response, and
// that brief records do not need it.
func TestTextsMissing(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	rec := withText(0, storetest.Text("response", store.LongBytes), "short")
	if err := s.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []struct{ statement, says, advice string }{
		{`UPDATE item_texts SET place = 'nowhere'`, `no place "nowhere"`, ""},
		{`PRAGMA foreign_keys = OFF; UPDATE item_texts SET text = 7`, "text 7 is missing", ".recover"},
	} {
		if _, err := s.write.conn.ExecContext(t.Context(), spoil.statement); err != nil {
			t.Fatal(err)
		}
		err := readAll(t, s, run.ID, store.Query{})
		if err == nil || !strings.Contains(err.Error(), spoil.says) || !strings.Contains(err.Error(), rec.Item.ID) ||
			!strings.Contains(deem.HintOf(err), spoil.advice) {
			t.Errorf("%s: error = %v with hint %q, want %q", spoil.statement, err, deem.HintOf(err), spoil.says)
		}
		if err := readAll(t, s, run.ID, store.Query{Brief: true}); err != nil {
			t.Errorf("%s: brief records: %v", spoil.statement, err)
		}
	}
}

func readAll(t *testing.T, s *Store, runID string, q store.Query) error {
	t.Helper()
	var errs []error
	for _, err := range s.Records(t.Context(), runID, q) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
