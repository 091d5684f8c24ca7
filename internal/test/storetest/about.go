package storetest

import (
	"testing"
	"time"

	"deem/internal/store"
)

func mustEdit(t *testing.T, st store.Database, id string, change func(*store.About)) store.Run {
	t.Helper()
	run, err := st.Edit(t.Context(), id, change)
	must(t, err)
	return run
}

// testEdit checks that notes on a run are stored, and that nothing else changes.
func testEdit(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, Record(0))
	want := mustRun(t, st, run.ID)
	want.About = store.About{Name: "before the fix", Tags: []string{"baseline", "two-words"}, Note: "line 1\nline \x00 '2'"}
	got := mustEdit(t, st, run.ID, func(a *store.About) {
		a.Name, a.Tags, a.Note = "  before\n the fix ", []string{"two words", "baseline", " ", "baseline"}, "line 1\nline \x00 '2'\n"
	})
	diff(t, "the edited run", got, want)
	diff(t, "the run read again", mustRun(t, s.open(t), run.ID), want)
	got = mustEdit(t, st, run.ID, func(a *store.About) { a.Tags = append(a.Tags, "a") })
	want.About.Tags = []string{"a", "baseline", "two-words"}
	diff(t, "the run with one more tag", got, want)
	got = mustEdit(t, st, run.ID, func(a *store.About) { *a = store.About{} })
	want.About = store.About{}
	diff(t, "the run without notes", got, want)
	_, err := st.Edit(t.Context(), "20200101-000000", func(*store.About) {})
	wantError(t, "Edit of an unknown run", err, store.ErrNotFound, "")
}

// testDelete checks that only the editor finds a deleted run, that a new run does not
// resume it, and that it can be restored.
func testDelete(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, Record(0))
	remove := func(a *store.About) { a.Deleted = time.Unix(1700000000, 5).UTC() }
	_, err := st.Edit(t.Context(), run.ID, remove)
	wantError(t, "deleting a run that is being judged", err, store.ErrBusy, "")
	must(t, st.Finish(t.Context(), run.ID))
	want := mustRun(t, st, run.ID)
	gone := mustEdit(t, st, run.ID, remove)
	if !gone.About.Deleted.Equal(time.Unix(1700000000, 5)) {
		t.Errorf("Deleted = %v", gone.About.Deleted)
	}
	_, err = st.Run(t.Context(), run.ID)
	wantError(t, "Run of a deleted run", err, store.ErrNotFound, "")
	diff(t, "the number of runs", len(collect(t, st.Runs(t.Context()))), 0)
	diff(t, "Deleted", collect(t, st.Deleted(t.Context())), []store.Run{gone})
	second, resumed := mustBegin(t, st, Spec(""), false)
	if resumed || second.ID == run.ID {
		t.Errorf("Begin = %s, resumed %v, want a new run", second.ID, resumed)
	}
	diff(t, "the run that was brought back", mustEdit(t, st, run.ID, func(a *store.About) { a.Deleted = time.Time{} }), want)
	diff(t, "the number of runs with the one that was brought back", len(collect(t, st.Runs(t.Context()))), 2)
}

// testPurge checks that a purged run is gone with its records, and that neither other runs
// nor the search in a later run are affected.
func testPurge(t *testing.T, s suite) {
	st, kept := s.begin(t)
	mustAppend(t, st, kept.ID, Record(0), Record(1))
	want := all(t, st, kept.ID)
	run, _ := mustBegin(t, st, Spec("other"), false)
	mustAppend(t, st, run.ID, Record(0), Record(1), Record(2))
	must(t, st.Finish(t.Context(), run.ID))
	if err := st.Purge(t.Context(), run.ID); err == nil {
		t.Error("Purge removed a run that was not deleted")
	}
	mustEdit(t, st, run.ID, func(a *store.About) { a.Deleted = time.Now() })
	must(t, st.Purge(t.Context(), run.ID))
	wantError(t, "Purge of a purged run", st.Purge(t.Context(), run.ID), store.ErrNotFound, "")
	wantError(t, "Append to a purged run", st.Append(t.Context(), run.ID, want), store.ErrNotFound, "")
	diff(t, "the records of the other run", all(t, st, kept.ID), want)
	// The new run may reuse the row numbers of the purged one, but must not find its words.
	next, _ := mustBegin(t, st, Spec("third"), false)
	rec := Record(0)
	rec.Item.Response = "gamma"
	mustAppend(t, st, next.ID, rec)
	for text, n := range map[string]int{"gamma": 1, Record(0).Item.Response: 0} {
		diff(t, "the number of records that "+text+" finds", len(finds(t, st, next.ID, text)), n)
	}
}
