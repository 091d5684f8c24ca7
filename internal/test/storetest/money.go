package storetest

import (
	"testing"

	"deem"
	"deem/internal/store"
)

// paid returns a record whose call cost micros.
func paid(i int, micros int64) deem.Record {
	rec := Record(i)
	rec.Calls = rec.Calls[:1]
	rec.Calls[0].Reply.CostMicros, rec.Calls[0].Reply.Cached = micros, false
	return rec
}

func mustDraw(t *testing.T, st store.Database, runID string, d store.Draw) store.Balance {
	t.Helper()
	b, err := st.Draw(t.Context(), runID, d)
	must(t, err)
	return b
}

// wantMoney checks the cost of a run and its reserved money.
func wantMoney(t *testing.T, st store.Database, runID string, cost, aside int64) {
	t.Helper()
	run, err := st.Run(t.Context(), runID)
	if err != nil || run.CostMicros != cost || run.SetAsideMicros != aside {
		t.Errorf("the run cost %d, and %d are set aside, %v; want %d and %d", run.CostMicros, run.SetAsideMicros, err, cost, aside)
	}
}

// testMoneyLeave checks that a holder that leaves returns everything except what no record
// shows.
func testMoneyLeave(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustAppend(t, st, run.ID, paid(0, 40))
	if b := mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100}); b.Got != 100 || b.Free != 860 || b.Counted != 40 || b.Recorded != 40 || b.Others {
		t.Errorf("Draw = %+v, want 100 with 860 left of 1000 and 40 recorded", b)
	}
	wantMoney(t, st, run.ID, 40, 100)
	mustAppend(t, st, run.ID, paid(1, 30))
	wantMoney(t, st, run.ID, 70, 70)
	must(t, st.Leave(t.Context(), run.ID, "", 50)) // 20 of them in a call that timed out
	wantMoney(t, st, run.ID, 70, 20)
	must(t, st.Leave(t.Context(), run.ID, "", 50)) // It has left already.
	wantMoney(t, st, run.ID, 70, 20)
}

// testMoneyKilled checks that the money of a killed process stays reserved, and that the
// next one draws in addition to it.
func testMoneyKilled(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100})
	mustAppend(t, st, run.ID, paid(0, 30))
	must(t, st.Close()) // Leave is not called, as in a kill.
	st = s.open(t)
	again, resumed := mustBegin(t, st, Spec(""), false)
	if !resumed || again.CostMicros != 30 || again.SetAsideMicros != 70 {
		t.Errorf("resumed %v with %d recorded and %d set aside, want 30 and 70", resumed, again.CostMicros, again.SetAsideMicros)
	}
	if b := mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100}); b.Free != 800 || b.Counted != 100 || b.Recorded != 30 {
		t.Errorf("Draw = %+v, want 100 counted and 800 left", b)
	}
	must(t, st.Leave(t.Context(), run.ID, "", 0))
	wantMoney(t, st, run.ID, 30, 70)
}

// testMoneyHolders checks that holders share the limit.
func testMoneyHolders(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDraw(t, st, run.ID, store.Draw{Holder: "a", Limit: 1000, Need: 600})
	if b := mustDraw(t, st, run.ID, store.Draw{Holder: "b", Limit: 1000, Need: 500}); b.Got != 0 || b.Free != 400 || !b.Others {
		t.Errorf("Draw = %+v, want nothing while a has money", b)
	}
	mustDraw(t, st, run.ID, store.Draw{Holder: "a", Spent: 100, Lent: 100, Limit: 1000}) // returns 400
	if b := mustDraw(t, st, run.ID, store.Draw{Holder: "b", Limit: 1000, Need: 500}); b.Got != 500 || b.Free != 300 {
		t.Errorf("Draw = %+v, want 500 with 300 left", b)
	}
	mustAppend(t, st, run.ID, paid(0, 100))
	must(t, st.Leave(t.Context(), run.ID, "a", 120))
	wantMoney(t, st, run.ID, 100, 520)
	mustAppend(t, st, run.ID, paid(1, 50))
	must(t, st.Leave(t.Context(), run.ID, "b", 50))
	wantMoney(t, st, run.ID, 150, 20)
}

// testMoneyLend checks that loans shrink towards the limit, so that all of it can be used.
func testMoneyLend(t *testing.T, s suite) {
	st, run := s.begin(t)
	d := store.Draw{Limit: 1000, Need: 10, Ahead: 190}
	var got []int64
	for {
		b := mustDraw(t, st, run.ID, d)
		if b.Got == 0 {
			break
		}
		got = append(got, b.Got)
		d.Lent += b.Got
	}
	if got[0] != 200 || d.Lent <= 990 || d.Lent > 1000 {
		t.Errorf("lent %d in %v, want 200 first and nearly 1000 in all", d.Lent, got)
	}
}

// testMoneySettle checks that the user can release money that was never settled, but not
// while the run is being judged.
func testMoneySettle(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100})
	mustAppend(t, st, run.ID, paid(0, 30))
	_, err := st.Settle(t.Context(), run.ID)
	wantError(t, "Settle of a run that is being judged", err, store.ErrBusy, "")
	must(t, st.Release(run.ID))
	if released, err := st.Settle(t.Context(), run.ID); err != nil || released != 70 {
		t.Errorf("Settle = %d, %v, want 70", released, err)
	}
	wantMoney(t, st, run.ID, 30, 0)
	mustBegin(t, st, Spec(""), false) // The claim is free again.
	if b := mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100}); b.Counted != 30 {
		t.Errorf("Draw = %+v, want 30 counted", b)
	}
}

// testMoneyUnbudgeted checks that reserved money stays reserved while the run continues
// without a budget.
func testMoneyUnbudgeted(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Need: 100})
	must(t, st.Release(run.ID))
	mustBegin(t, st, Spec(""), false)
	mustAppend(t, st, run.ID, paid(0, 500))
	wantMoney(t, st, run.ID, 500, 100)
}

// testMoneyBatches checks that replies of batches that no record has yet are not counted
// twice: as reserved, and as owed.
func testMoneyBatches(t *testing.T, s suite) {
	st, run := s.begin(t)
	var lines []store.BatchLine
	var recs []deem.Record
	for i := range 2 {
		rec := paid(i, 100)
		rec.Calls[0].Reply.Batch, rec.Calls[0].Reply.Key = "vendor-1", []string{"key-0", "key-1"}[i]
		reply := *rec.Calls[0].Reply
		lines, recs = append(lines, store.BatchLine{Key: reply.Key, Reply: &reply}), append(recs, rec)
	}
	must(t, st.PutBatch(t.Context(), run.ID, store.Batch{Key: "b", ID: "vendor-1", State: store.BatchCollected, Lines: 2}, lines))
	mustDraw(t, st, run.ID, store.Draw{Limit: 1000, Spent: 200, Need: 50}) // 200 for the batch
	mustAppend(t, st, run.ID, recs[0])
	wantMoney(t, st, run.ID, 100, 50)
	mustAppend(t, st, run.ID, recs[1])
	wantMoney(t, st, run.ID, 200, 50)
	must(t, st.Leave(t.Context(), run.ID, "", 210)) // A call timed out.
	wantMoney(t, st, run.ID, 200, 10)
}

func testMoneyUnknownRun(t *testing.T, s suite) {
	st := s.open(t)
	_, drawErr := st.Draw(t.Context(), "none", store.Draw{Limit: 1, Need: 1})
	_, settleErr := st.Settle(t.Context(), "none")
	wantError(t, "Draw", drawErr, store.ErrNotFound, "")
	wantError(t, "Settle", settleErr, store.ErrNotFound, "")
	wantError(t, "Leave", st.Leave(t.Context(), "none", "", 0), store.ErrNotFound, "")
}
