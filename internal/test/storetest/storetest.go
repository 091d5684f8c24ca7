// Package storetest is the test suite for every [store.Database]. It also creates records for
// other tests, and starts a real Postgres: a separate cluster in its own folder, which is
// removed when the tests are over, however they end. The tests of a package share one cluster,
// which is started by the first test that needs it, and each test has its own database:
//
//	func TestMain(m *testing.M) { os.Exit(storetest.Main(m, storetest.Options{Template: migrate})) }
//
//	func TestStore(t *testing.T) {
//		url := storetest.Database(t)
//		...
//	}
//
// The programs initdb and postgres are searched in PATH and in Debian's locations;
// `scripts/need.sh postgres` installs them. If they are missing, a test that needs them is
// skipped, or fails if CI or DEEM_POSTGRES=required is set.
//
// A cluster that this package did not start is never touched.
package storetest

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
)

// Test runs the suite. The function open returns a store of the given test: an empty one
// for a new test, and the same one, opened again, for a test that it has seen. The suite
// closes what it opens, and runs its tests in parallel.
func Test(t *testing.T, open func(t *testing.T) store.Database) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"Begin", testBegin},
		{"Resume", testResume},
		{"Fresh", testFresh},
		{"BadSpec", testBadSpec},
		{"Finish", testFinish},
		{"Claim", testClaim},
		{"ClaimEnds", testClaimEnds},
		{"Refs", testRefs},
		{"Last", testLast},
		{"Runs", testRuns},
		{"UnknownRun", testUnknownRun},
		{"Edit", testEdit},
		{"Delete", testDelete},
		{"Purge", testPurge},
		{"RoundTrip", testRoundTrip},
		{"RoundTripAny", testRoundTripAny},
		{"NotUTF8", testNotUTF8},
		{"Texts", testTexts},
		{"TextsShared", testTextsShared},
		{"TextsNotUTF8", testTextsNotUTF8},
		{"TextsLeftAlone", testTextsLeftAlone},
		{"Replace", testReplace},
		{"Counts", testCounts},
		{"Refused", testRefused},
		{"Cancelled", testCancelled},
		{"Replies", testReplies},
		{"RepliesDiffer", testRepliesDiffer},
		{"Status", testStatus},
		{"Order", testOrder},
		{"Trials", testTrials},
		{"Filters", testFilters},
		{"Pages", testPages},
		{"Brief", testBrief},
		{"Nested", testNested},
		{"ReadWhileWriting", testReadWhileWriting},
		{"Writers", testWriters},
		{"Reopen", testReopen},
		{"Labels", testLabels},
		{"LabelsReplace", testLabelsReplace},
		{"LabelsDrop", testLabelsDrop},
		{"LabelsFilters", testLabelsFilters},
		{"LabelsRefused", testLabelsRefused},
		{"Browse", testBrowse},
		{"BrowsePages", testBrowsePages},
		{"BrowseNames", testBrowseNames},
		{"BrowseWhole", testBrowseWhole},
		{"BrowseRefused", testBrowseRefused},
		{"BrowseEmpty", testBrowseEmpty},
		{"BrowseText", testBrowseText},
		{"BrowseTyped", testBrowseTyped},
		{"BrowseReplaced", testBrowseReplaced},
		{"BrowseLong", testBrowseLong},
		{"BrowseAtOnce", testBrowseAtOnce},
		{"BatchRoundTrip", testBatchRoundTrip},
		{"BatchOutcome", testBatchOutcome},
		{"BatchStates", testBatchStates},
		{"BatchTaken", testBatchTaken},
		{"BatchCached", testBatchCached},
		{"BatchRefused", testBatchRefused},
		{"BatchDrop", testBatchDrop},
		{"BatchReopen", testBatchReopen},
		{"BatchUnknownRun", testBatchUnknownRun},
		{"MoneyLeave", testMoneyLeave},
		{"MoneyKilled", testMoneyKilled},
		{"MoneyHolders", testMoneyHolders},
		{"MoneyAhead", testMoneyAhead},
		{"MoneyOverspent", testMoneyOverspent},
		{"MoneySettle", testMoneySettle},
		{"MoneyUnbudgeted", testMoneyUnbudgeted},
		{"MoneyBatches", testMoneyBatches},
		{"MoneyUnknownRun", testMoneyUnknownRun},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, suite{open})
		})
	}
}

// A suite opens stores.
type suite struct {
	openRaw func(t *testing.T) store.Database
}

// open opens the store of the test and closes it when the test is over.
func (s suite) open(t *testing.T) store.Database {
	t.Helper()
	st := s.openRaw(t)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return st
}

// begin opens the store of the test and begins a run in it.
func (s suite) begin(t *testing.T) (store.Database, store.Run) {
	t.Helper()
	st := s.open(t)
	run, _ := mustBegin(t, st, Spec(""), false)
	return st, run
}

// must fails the test at once on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustBegin(t *testing.T, st store.Database, spec store.Spec, fresh bool) (run store.Run, resumed bool) {
	t.Helper()
	run, resumed, err := st.Begin(t.Context(), spec, fresh)
	must(t, err)
	return run, resumed
}

func mustAppend(t *testing.T, st store.Database, runID string, recs ...deem.Record) {
	t.Helper()
	must(t, st.Append(t.Context(), runID, recs))
}

func mustRun(t *testing.T, st store.Database, ref string) store.Run {
	t.Helper()
	run, err := st.Run(t.Context(), ref)
	must(t, err)
	return run
}

// query returns the records that q selects.
func query(t *testing.T, st store.Database, runID string, q store.Query) []deem.Record {
	t.Helper()
	return collect(t, st.Records(t.Context(), runID, q))
}

// all returns every record of a run with its calls.
func all(t *testing.T, st store.Database, runID string) []deem.Record {
	t.Helper()
	return query(t, st, runID, store.Query{WithCalls: true})
}

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for v, err := range seq {
		if err != nil {
			t.Fatalf("after %d: %v", len(list), err)
		}
		list = append(list, v)
	}
	return list
}

// wantReply checks the cached reply under a key; nil means that there is none.
func wantReply(t *testing.T, st store.Database, key string, want *deem.Reply) {
	t.Helper()
	got, ok, err := st.Reply(t.Context(), key)
	if err != nil || ok != (want != nil) {
		t.Fatalf("Reply(%q) = %v, %v, want %v", key, ok, err, want != nil)
	}
	if want != nil {
		diff(t, "cached reply "+key, got, *want)
	}
}

// diff fails the test if got and want differ.
func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, shorten(d))
	}
}

// shorten keeps a diff of very long texts readable.
func shorten(d string) string {
	if len(d) > 4000 {
		return d[:4000] + "..."
	}
	return d
}

// wantError fails the test unless err is target, with a hint that contains advice.
func wantError(t *testing.T, what string, err, target error, advice string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%s: error = %v, want %v", what, err, target)
	}
	if hint := deem.HintOf(err); !strings.Contains(hint, advice) {
		t.Errorf("%s: hint = %q, want it to say %q", what, hint, advice)
	}
}
