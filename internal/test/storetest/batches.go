package storetest

import (
	"fmt"
	"testing"

	"deem"
	"deem/internal/store"
)

// planned returns a batch with lines of the given keys, without results.
func planned(key string, keys ...string) (store.Batch, []store.BatchLine) {
	var lines []store.BatchLine
	for _, k := range keys {
		lines = append(lines, store.BatchLine{Key: k})
	}
	return store.Batch{Key: key, State: store.BatchPlanned, Lines: len(keys), MostMicros: 500, Planned: Epoch}, lines
}

// answered returns a line with a reply.
func answered(key string, cost int64) store.BatchLine {
	r := *Call(key).Reply
	r.Batch, r.CostMicros = "batch_1", cost
	return store.BatchLine{Key: key, Reply: &r}
}

func mustPut(t *testing.T, st store.Database, runID string, b store.Batch, lines ...store.BatchLine) {
	t.Helper()
	must(t, st.PutBatch(t.Context(), runID, b, lines))
}

func mustBatches(t *testing.T, st store.Database, runID string) []store.Batch {
	t.Helper()
	list, err := st.Batches(t.Context(), runID)
	must(t, err)
	return list
}

func mustLine(t *testing.T, st store.Database, runID, key string) store.BatchLine {
	t.Helper()
	l, ok, err := st.BatchLine(t.Context(), runID, key)
	if err != nil || !ok {
		t.Fatalf("BatchLine(%q) = %v, %v, want a line", key, ok, err)
	}
	return l
}

// All fields of a batch and its replies are stored.
func testBatchRoundTrip(t *testing.T, s suite) {
	st, run := s.begin(t)
	diff(t, "the number of batches of a new run", len(mustBatches(t, st, run.ID)), 0)
	if _, ok, err := st.BatchLine(t.Context(), run.ID, "k1"); ok || err != nil {
		t.Errorf("BatchLine of a new run = %v, %v, want none", ok, err)
	}
	reply := Full[deem.Reply]()
	reply.Key, reply.Cached = "k1", false
	b, _ := planned("b1")
	b.ID, b.State, b.Lines = "batch_é'", store.BatchSubmitted, 3
	mustPut(t, st, run.ID, b,
		store.BatchLine{Key: "k1", Reply: &reply},
		store.BatchLine{Key: "k2", Failure: deem.Failf(deem.Timeout, "it expired\n<&>"), Passing: true},
		store.BatchLine{Key: "k3"})
	b.Replies, b.Failed, b.OwedMicros = 1, 1, reply.CostMicros
	diff(t, "batches", mustBatches(t, st, run.ID), []store.Batch{b})
	in := store.BatchLine{Batch: "b1", State: store.BatchSubmitted}
	want := in
	want.Key, want.Reply = "k1", &reply
	diff(t, "line with a reply", mustLine(t, st, run.ID, "k1"), want)
	want = in
	want.Key, want.Failure, want.Passing = "k2", deem.Failf(deem.Timeout, "it expired\n<&>"), true
	diff(t, "line with a failure", mustLine(t, st, run.ID, "k2"), want)
	want = in
	want.Key = "k3"
	diff(t, "line without an outcome", mustLine(t, st, run.ID, "k3"), want)
}

// The results of lines are put in parts, and again after a kill.
func testBatchOutcome(t *testing.T, s suite) {
	st, run := s.begin(t)
	b, lines := planned("b1", "k1", "k2", "k3")
	mustPut(t, st, run.ID, b, lines...)
	b.State, b.ID = store.BatchSubmitted, "batch_1"
	mustPut(t, st, run.ID, b, answered("k1", 7))
	mustPut(t, st, run.ID, b, answered("k1", 7), store.BatchLine{Key: "k2", Failure: deem.Failf(deem.Provider, "no")})
	b.State = store.BatchCollected
	mustPut(t, st, run.ID, b)
	b.Replies, b.Failed, b.OwedMicros = 1, 1, 7
	diff(t, "batches", mustBatches(t, st, run.ID), []store.Batch{b})
	if l := mustLine(t, st, run.ID, "k3"); l.Reply != nil || l.Failure != nil || l.State != store.BatchCollected {
		t.Errorf("the line that was not answered is %+v", l)
	}
	diff(t, "a line that was put twice", *mustLine(t, st, run.ID, "k1").Reply, *answered("k1", 7).Reply)
}

// Batches are in the order in which they were added, whatever their state.
func testBatchStates(t *testing.T, s suite) {
	st, run := s.begin(t)
	for i := range 12 {
		b, lines := planned(fmt.Sprint("b", i), fmt.Sprint("k", i))
		mustPut(t, st, run.ID, b, lines...)
	}
	b, _ := planned("b3")
	b.State, b.ID, b.Lines = store.BatchCollected, "x", 1
	mustPut(t, st, run.ID, b)
	for i, b := range mustBatches(t, st, run.ID) {
		want := store.BatchPlanned
		if i == 3 {
			want = store.BatchCollected
		}
		if b.Key != fmt.Sprint("b", i) || b.State != want {
			t.Errorf("batch %d is %s and %s, want b%d and %s", i, b.Key, b.State, i, want)
		}
	}
}

// A record with the reply of a line takes it, with its cost, in one commit.
func testBatchTaken(t *testing.T, s suite) {
	st, run := s.begin(t)
	b, _ := planned("b1")
	b.State, b.ID, b.Lines = store.BatchCollected, "batch_1", 2
	mustPut(t, st, run.ID, b, answered("k1", 7), answered("k2", 5))
	wantReply(t, st, "k1", nil) // No record has it.
	rec := Record(0)
	rec.Calls[0].Reply = mustLine(t, st, run.ID, "k1").Reply
	bad := Record(1)
	bad.Verdict = nil // This record is refused, and the whole append with it.
	if err := st.Append(t.Context(), run.ID, []deem.Record{rec, bad}); err == nil {
		t.Error("Append took a record without a verdict")
	}
	diff(t, "whether a refused record took its line", mustLine(t, st, run.ID, "k1").Taken, false)
	mustAppend(t, st, run.ID, rec)
	if l := mustLine(t, st, run.ID, "k1"); !l.Taken || l.Reply == nil || l.Reply.CostMicros != 7 {
		t.Errorf("the line whose reply a record has is %+v", l)
	}
	diff(t, "whether a line is taken whose reply no record has", mustLine(t, st, run.ID, "k2").Taken, false)
	diff(t, "OwedMicros", mustBatches(t, st, run.ID)[0].OwedMicros, int64(5))
	diff(t, "the cost of the run", mustRun(t, st, run.ID).CostMicros, int64(7))
	// Again, as if the collection were repeated after a kill.
	mustPut(t, st, run.ID, b, answered("k1", 7))
	diff(t, "whether the line is still taken", mustLine(t, st, run.ID, "k1").Taken, true)
	wantReply(t, st, "k1", answered("k1", 7).Reply)
}

// A reply from the cache, or of an ordinary call, takes nothing, and neither does another
// run.
func testBatchCached(t *testing.T, s suite) {
	st, run := s.begin(t)
	b, _ := planned("b1")
	b.State, b.Lines = store.BatchCollected, 2
	mustPut(t, st, run.ID, b, answered("k1", 7), answered("k2", 5))
	cached, plain, other := Record(0), Record(1), Record(2)
	cached.Calls[0].Reply = answered("k1", 0).Reply
	cached.Calls[0].Reply.Cached = true
	plain.Calls[0].Reply.Key = "k2"
	mustAppend(t, st, run.ID, cached, plain)
	second, _ := mustBegin(t, st, Spec("other"), false)
	other.Calls[0].Reply = answered("k1", 7).Reply
	mustAppend(t, st, second.ID, other)
	for _, key := range []string{"k1", "k2"} {
		diff(t, "whether line "+key+" was taken", mustLine(t, st, run.ID, key).Taken, false)
	}
	if _, ok, _ := st.BatchLine(t.Context(), second.ID, "k1"); ok {
		t.Error("a run sees the lines of another")
	}
}

// A request is in only one batch of a run, and a refused one leaves no trace.
func testBatchRefused(t *testing.T, s suite) {
	st, run := s.begin(t)
	b1, lines := planned("b1", "k1", "k2")
	mustPut(t, st, run.ID, b1, lines...)
	b2, lines := planned("b2", "k3", "k2")
	wantError(t, "PutBatch with the line of another batch", st.PutBatch(t.Context(), run.ID, b2, lines), store.ErrLineTaken, "")
	reply := answered("k1", 1)
	reply.Failure = deem.Failf(deem.Provider, "no")
	for _, l := range []store.BatchLine{reply, {}} {
		if err := st.PutBatch(t.Context(), run.ID, b2, []store.BatchLine{{Key: "k4"}, l}); err == nil {
			t.Errorf("PutBatch took the line %+v", l)
		}
	}
	if list := mustBatches(t, st, run.ID); len(list) != 1 || list[0].Key != "b1" {
		t.Errorf("batches = %+v, want b1 alone", list)
	}
	for _, key := range []string{"k3", "k4"} {
		if _, ok, _ := st.BatchLine(t.Context(), run.ID, key); ok {
			t.Errorf("line %s was kept", key)
		}
	}
	second, _ := mustBegin(t, st, Spec("other"), false)
	mustPut(t, st, second.ID, b1, lines...) // Another run may have the same request.
}

func testBatchDrop(t *testing.T, s suite) {
	st, run := s.begin(t)
	b1, lines := planned("b1", "k1")
	mustPut(t, st, run.ID, b1, lines...)
	b2, lines2 := planned("b2", "k2")
	mustPut(t, st, run.ID, b2, lines2...)
	for range 2 { // The second time there is nothing to drop.
		must(t, st.DropBatch(t.Context(), run.ID, "b1"))
	}
	if list := mustBatches(t, st, run.ID); len(list) != 1 || list[0].Key != "b2" {
		t.Errorf("batches = %+v, want b2 alone", list)
	}
	b3, _ := planned("b3")
	mustPut(t, st, run.ID, b3, lines...) // The line is free again.
	diff(t, "the batch of line k1", mustLine(t, st, run.ID, "k1").Batch, "b3")
}

// Another process finds what this one put.
func testBatchReopen(t *testing.T, s suite) {
	st, run := s.begin(t)
	b, lines := planned("b1", "k1")
	mustPut(t, st, run.ID, b, lines...)
	again := s.open(t)
	diff(t, "batches", mustBatches(t, again, run.ID), []store.Batch{b})
	mustLine(t, again, run.ID, "k1")
}

func testBatchUnknownRun(t *testing.T, s suite) {
	st, _ := s.begin(t)
	b, lines := planned("b1", "k1")
	_, listErr := st.Batches(t.Context(), "nobody")
	_, _, lineErr := st.BatchLine(t.Context(), "nobody", "k1")
	wantError(t, "PutBatch", st.PutBatch(t.Context(), "nobody", b, lines), store.ErrNotFound, "")
	wantError(t, "Batches", listErr, store.ErrNotFound, "")
	wantError(t, "BatchLine", lineErr, store.ErrNotFound, "")
	wantError(t, "DropBatch", st.DropBatch(t.Context(), "nobody", "b1"), store.ErrNotFound, "")
}
