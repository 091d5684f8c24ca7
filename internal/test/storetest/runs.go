package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
)

func testBegin(t *testing.T, s suite) {
	for _, tt := range []struct {
		name string
		spec store.Spec
	}{
		{"usual", Spec("")},
		{"rule", store.Spec{
			Judge:   store.JudgeSpec{Name: "exact", Hash: "h", Rule: true},
			Dataset: store.DatasetSpec{Hash: "d"}, Trials: 3,
		}},
		{"full", Full[store.Spec]()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := tt.spec
			st := s.open(t)
			before := time.Now()
			run, resumed := mustBegin(t, st, spec, false)
			after := time.Now()
			if resumed {
				t.Error("Begin resumed a run of an empty store")
			}
			if run.Created.Before(before) || run.Created.After(after) || !run.Updated.Equal(run.Created) {
				t.Errorf("Created, Updated = %v, %v, want both between %v and %v", run.Created, run.Updated, before, after)
			}
			want := store.Run{ID: run.ID, Spec: spec, State: store.Open, Created: run.Created, Updated: run.Updated, Asked: run.Asked}
			diff(t, "Begin's run", run, want)
			diff(t, "Run's run", mustRun(t, st, run.ID), want)
		})
	}
}

func testResume(t *testing.T, s suite) {
	st, first := s.begin(t)
	must(t, st.Release(first.ID))
	spec := Spec("")
	spec.Settings, spec.Dataset.Names = json.RawMessage(`{"jobs":9}`), []string{"renamed.jsonl"}
	run, resumed := mustBegin(t, st, spec, false)
	if !resumed || run.ID != first.ID {
		t.Fatalf("Begin with the same key = %s, %v, want %s, true", run.ID, resumed, first.ID)
	}
	diff(t, "spec of a resumed run without records", run.Spec, spec)

	mustAppend(t, st, first.ID, Record(0), Failed(1, deem.Timeout))
	must(t, st.Release(first.ID))
	if run, resumed := mustBegin(t, st, Spec("other"), false); resumed || run.ID == first.ID {
		t.Errorf("Begin with another key = %s, %v, want a new run", run.ID, resumed)
	}
	spec.Settings, spec.Dataset.Names = json.RawMessage(`{"jobs":10}`), []string{"moved.jsonl"}
	run, resumed = mustBegin(t, st, spec, false)
	if !resumed || run.ID != first.ID {
		t.Fatalf("Begin with the same key = %s, %v, want %s, true", run.ID, resumed, first.ID)
	}
	diff(t, "Records, Unjudged", []int{run.Records, run.Unjudged}, []int{2, 1})
	// Other files with the same items do not rename what was judged.
	spec.Dataset.Names = []string{"renamed.jsonl"}
	diff(t, "spec of the resumed run", run.Spec, spec)
	diff(t, "Run's run", mustRun(t, st, run.ID), run)
}

func testFresh(t *testing.T, s suite) {
	st, first := s.begin(t)
	mustAppend(t, st, first.ID, Record(0))
	must(t, st.Finish(t.Context(), first.ID))
	second, resumed := mustBegin(t, st, Spec(""), true)
	if resumed || second.ID == first.ID || second.Records != 0 {
		t.Errorf("fresh Begin = %s with %d records, resumed %v, want a new and empty run", second.ID, second.Records, resumed)
	}
	must(t, st.Release(second.ID))
	if run, resumed := mustBegin(t, st, Spec(""), false); !resumed || run.ID != second.ID {
		t.Errorf("Begin = %s, %v, want the newest run %s, true", run.ID, resumed, second.ID)
	}
}

func testBadSpec(t *testing.T, s suite) {
	st := s.open(t)
	for _, tt := range []struct {
		name  string
		spoil func(*store.Spec)
	}{
		{"no judge", func(sp *store.Spec) { sp.Judge.Hash = "" }},
		{"no dataset", func(sp *store.Spec) { sp.Dataset.Hash = "" }},
		{"no trials", func(sp *store.Spec) { sp.Trials = 0 }},
	} {
		spec := Spec("")
		tt.spoil(&spec)
		if _, _, err := st.Begin(t.Context(), spec, false); err == nil {
			t.Errorf("%s: Begin gave no error", tt.name)
		}
	}
	spec := Spec("")
	spec.Endpoint = "https://me:secret@example.com/v1?key=secret"
	run, _ := mustBegin(t, st, spec, false)
	diff(t, "Endpoint", run.Endpoint, "https://example.com/v1")
	diff(t, "the number of runs without the refused ones", len(collect(t, st.Runs(t.Context()))), 1)
}

func testFinish(t *testing.T, s suite) {
	st, run := s.begin(t)
	must(t, st.Finish(t.Context(), run.ID))
	done := mustRun(t, st, run.ID)
	if done.State != store.Done || done.Updated.Before(run.Updated) {
		t.Errorf("State, Updated = %s, %v, want done, not before %v", done.State, done.Updated, run.Updated)
	}
	again, resumed := mustBegin(t, st, Spec(""), false)
	if !resumed || again.State != store.Done {
		t.Errorf("Begin of a done run = %s, %v, want done, true", again.State, resumed)
	}
	// A report says how long the run took, so a reader must not change its end.
	must(t, st.Finish(t.Context(), run.ID))
	diff(t, "Updated of a done run", mustRun(t, st, run.ID).Updated, done.Updated)
	if _, resumed := mustBegin(t, st, Spec(""), false); !resumed {
		t.Error("Begin of a done run did not continue it")
	}
	mustAppend(t, st, run.ID, Record(0))
	diff(t, "State after an append", mustRun(t, st, run.ID).State, store.Open)
	wantError(t, "Finish of an unknown run", st.Finish(t.Context(), "20200101-000000"), store.ErrNotFound, "")
}

func testClaim(t *testing.T, s suite) {
	st, run := s.begin(t)
	other := s.open(t)
	for name, st := range map[string]store.Database{"same store": st, "other store": other} {
		for _, fresh := range []bool{false, true} {
			_, _, err := st.Begin(t.Context(), Spec(""), fresh)
			wantError(t, fmt.Sprintf("%s, fresh %v", name, fresh), err, store.ErrBusy, "run the command again")
		}
	}
	free, _ := mustBegin(t, other, Spec("other"), false)
	diff(t, "the records of a run with another key", free.Records, 0)
	// Another store's Release is not ours.
	if err := other.Release(run.ID); err != nil {
		t.Errorf("Release of a run that is not claimed: %v", err)
	}
	_, _, err := other.Begin(t.Context(), Spec(""), false)
	wantError(t, "Begin after a stranger's Release", err, store.ErrBusy, "")
	// A refused Begin does not affect the holder's claim, and reading needs none.
	diff(t, "the run read by another store", mustRun(t, other, run.ID).ID, run.ID)
}

func testClaimEnds(t *testing.T, s suite) {
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, st store.Database, run store.Run) error
	}{
		{"Finish", func(t *testing.T, st store.Database, run store.Run) error { return st.Finish(t.Context(), run.ID) }},
		{"Release", func(_ *testing.T, st store.Database, run store.Run) error { return st.Release(run.ID) }},
		{"Close", func(_ *testing.T, st store.Database, _ store.Run) error { return st.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st, run := s.begin(t)
			must(t, tt.end(t, st, run))
			other := s.open(t)
			if got, resumed := mustBegin(t, other, Spec(""), false); !resumed || got.ID != run.ID {
				t.Errorf("Begin = %s, %v, want %s, true", got.ID, resumed, run.ID)
			}
		})
	}
}

func testRefs(t *testing.T, s suite) {
	st := s.open(t)
	_, err := st.Run(t.Context(), "last")
	wantError(t, "Run in an empty store", err, store.ErrNotFound, "deem run")
	var ids []string
	for i := range 3 {
		run, _ := mustBegin(t, st, Spec(fmt.Sprint(i)), false)
		mustAppend(t, st, run.ID, Record(0))
		ids = append(ids, run.ID)
	}
	for ref, want := range map[string]string{
		"last": ids[2], "last~0": ids[2], "last~1": ids[1], "last~2": ids[0],
		ids[0]: ids[0], ids[1]: ids[1],
	} {
		diff(t, "Run of "+ref, mustRun(t, st, ref).ID, want)
	}
	// The shortest unique prefix of any id means that id, and one character less means
	// several.
	for _, id := range ids {
		n := len(id)
		for n > 1 && !slices.ContainsFunc(ids, func(o string) bool { return o != id && strings.HasPrefix(o, id[:n-1]) }) {
			n--
		}
		diff(t, "Run of "+id[:n], mustRun(t, st, id[:n]).ID, id)
		_, err := st.Run(t.Context(), id[:n-1])
		wantError(t, fmt.Sprintf("Run(%q)", id[:n-1]), err, store.ErrAmbiguous, id)
	}
	for _, ref := range []string{"last~3", "nonsense", "", "last~", "last~-1", "%", "_", ids[0] + "0", "'; DROP TABLE runs"} {
		_, err := st.Run(t.Context(), ref)
		wantError(t, fmt.Sprintf("Run(%q)", ref), err, store.ErrNotFound, ids[0])
	}
}

// testLast checks that "last" is the run that was begun or resumed last, among those that
// have a verdict or are done, are not over probes and are not deleted.
func testLast(t *testing.T, s suite) {
	st := s.open(t)
	wantLast := func(after string, want ...string) {
		t.Helper()
		for i, id := range want {
			diff(t, fmt.Sprintf("after %s, last~%d", after, i), mustRun(t, st, fmt.Sprint("last~", i)).ID, id)
		}
		_, err := st.Run(t.Context(), fmt.Sprint("last~", len(want)))
		wantError(t, fmt.Sprintf("after %s, last~%d", after, len(want)), err, store.ErrNotFound, "run")
		var counted []store.Run
		for _, run := range collect(t, st.Runs(t.Context())) {
			if run.Counts() {
				counted = append(counted, run)
			}
		}
		diff(t, "the runs that count, by Asked, after "+after, byAsked(counted), append([]string{}, want...))
	}
	judge := func(spec store.Spec) string {
		t.Helper()
		run, _ := mustBegin(t, st, spec, false)
		mustAppend(t, st, run.ID, Record(0))
		must(t, st.Finish(t.Context(), run.ID))
		return run.ID
	}
	wantLast("nothing")
	first, second := judge(Spec("1")), judge(Spec("2"))
	wantLast("two runs", second, first)

	empty, _ := mustBegin(t, st, Spec("3"), false)
	wantLast("a run without a record", second, first)
	diff(t, "the run without a record by its id", mustRun(t, st, empty.ID).ID, empty.ID)
	mustAppend(t, st, empty.ID, Failed(0, deem.Timeout))
	wantLast("a run in which every call failed so far", second, first)
	mustAppend(t, st, empty.ID, Record(1))
	wantLast("its first verdict", empty.ID, second, first)

	probes := Spec("4")
	probes.Dataset.Names = store.ProbeNames([]string{"a.jsonl"}, 1)
	id := judge(probes)
	diff(t, "the run over probes by its id", mustRun(t, st, id).ID, id)
	wantLast("a run over probes", empty.ID, second, first)

	again, resumed := mustBegin(t, st, Spec("1"), false)
	if !resumed || again.ID != first || again.State != store.Done {
		t.Fatalf("Begin = %s, %v, %s, want %s, true, done", again.ID, resumed, again.State, first)
	}
	wantLast("a done run was begun again", first, empty.ID, second)
	must(t, st.Finish(t.Context(), first))
	mustEdit(t, st, first, func(a *store.About) { a.Deleted = time.Now() })
	wantLast("the last run was deleted", empty.ID, second)
}

func testRuns(t *testing.T, s suite) {
	st := s.open(t)
	diff(t, "the number of runs of an empty store", len(collect(t, st.Runs(t.Context()))), 0)
	const runs = 140 // Every other one is resumed; the rest is more than a page.
	var want []store.Run
	seen := map[string]bool{}
	for i := range runs {
		run, _ := mustBegin(t, st, Spec(""), i%2 == 0)
		must(t, st.Release(run.ID))
		if i%2 == 0 {
			if seen[run.ID] {
				t.Fatalf("two runs have the id %s", run.ID)
			}
			seen[run.ID] = true
			want = append([]store.Run{run}, want...)
		} else {
			want[0] = run
		}
	}
	diff(t, "Runs, newest first,", collect(t, st.Runs(t.Context())), want)
	for run, err := range st.Runs(t.Context()) {
		if err != nil || run.ID != want[0].ID {
			t.Errorf("first of Runs = %s, %v, want %s", run.ID, err, want[0].ID)
		}
		break // Stopping early must be harmless.
	}
}

func testUnknownRun(t *testing.T, s suite) {
	st, _ := s.begin(t)
	const id = "20200101-000000"
	ctx := t.Context()
	wantError(t, "Append", st.Append(ctx, id, []deem.Record{Record(0)}), store.ErrNotFound, "")
	_, err := st.Status(ctx, id, "q", 0)
	wantError(t, "Status", err, store.ErrNotFound, "")
	for _, err := range st.Records(ctx, id, store.Query{}) {
		wantError(t, "Records", err, store.ErrNotFound, "")
		return
	}
	t.Error("Records of an unknown run gave no error")
}
