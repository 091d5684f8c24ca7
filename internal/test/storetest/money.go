package storetest

import (
	"testing"

	"deem"
	"deem/internal/money"
	"deem/internal/store"
)

// paid returns a record whose call cost micros.
func paid(i int, micros int64) deem.Record {
	rec := Record(i)
	rec.Calls = rec.Calls[:1]
	rec.Calls[0].Reply.CostMicros, rec.Calls[0].Reply.Cached = micros, false
	return rec
}

// mustDemand demands money of a limit of 1000.
func mustDemand(t *testing.T, st store.Database, runID, holder string, d money.Demand) money.Balance {
	t.Helper()
	d.Limit, d.Factor = 1000, max(1, d.Factor)
	b, err := st.Demand(t.Context(), runID, holder, d)
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
	want := money.Balance{Granted: 100, Free: 860, Counted: 140, Recorded: 40, Factor: 1}
	if b := mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100}); b != want {
		t.Errorf("Demand = %+v, want %+v", b, want)
	}
	wantMoney(t, st, run.ID, 40, 100)
	mustAppend(t, st, run.ID, paid(1, 30))
	wantMoney(t, st, run.ID, 70, 70)
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Spent: 50}) // 20 of them in a call that timed out
	wantMoney(t, st, run.ID, 70, 20)
	must(t, st.Leave(t.Context(), run.ID, store.Claimant))
	must(t, st.Leave(t.Context(), run.ID, store.Claimant)) // It has left already.
	wantMoney(t, st, run.ID, 70, 20)
	mustAppend(t, st, run.ID, paid(2, 10)) // It was not paid for by that holder.
	wantMoney(t, st, run.ID, 80, 20)
}

// testMoneyKilled checks that the money of a killed process stays reserved, and that the
// next one reserves in addition to it.
func testMoneyKilled(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100})
	mustAppend(t, st, run.ID, paid(0, 30))
	must(t, st.Close()) // Leave is not called, as in a kill.
	st = s.open(t)
	again, resumed := mustBegin(t, st, Spec(""), false)
	if !resumed || again.CostMicros != 30 || again.SetAsideMicros != 70 {
		t.Errorf("resumed %v with %d recorded and %d set aside, want 30 and 70", resumed, again.CostMicros, again.SetAsideMicros)
	}
	want := money.Balance{Granted: 100, Free: 800, Counted: 200, Recorded: 30, Factor: 1}
	if b := mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100}); b != want {
		t.Errorf("Demand = %+v, want %+v", b, want)
	}
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{})
	must(t, st.Leave(t.Context(), run.ID, store.Claimant))
	wantMoney(t, st, run.ID, 30, 70)
}

// testMoneyHolders checks that holders share the limit.
func testMoneyHolders(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDemand(t, st, run.ID, "b", money.Demand{})
	mustDemand(t, st, run.ID, "a", money.Demand{Need: 600})
	if b := mustDemand(t, st, run.ID, "b", money.Demand{Need: 500}); b.Granted != 0 || b.Free != 400 || !b.Others {
		t.Errorf("Demand = %+v, want nothing while a has money", b)
	}
	mustDemand(t, st, run.ID, "a", money.Demand{Spent: 100, Reserved: 100}) // returns 400
	if b := mustDemand(t, st, run.ID, "b", money.Demand{Need: 500}); b.Granted != 500 || b.Free != 300 {
		t.Errorf("Demand = %+v, want 500 with 300 left", b)
	}
	mustDemand(t, st, run.ID, "a", money.Demand{Spent: 20, Reserved: 80})
	mustAppend(t, st, run.ID, paid(0, 100))
	must(t, st.Leave(t.Context(), run.ID, "a")) // It is dead: its 80 count.
	wantMoney(t, st, run.ID, 100, 600)
	if b := mustDemand(t, st, run.ID, "b", money.Demand{Spent: 50}); b.Others || b.Counted != 250 {
		t.Errorf("Demand = %+v, want 250 counted, and no other holder", b)
	}
	mustAppend(t, st, run.ID, paid(1, 50))
	must(t, st.Leave(t.Context(), run.ID, "b"))
	wantMoney(t, st, run.ID, 150, 100)
}

// testMoneyAhead checks that reservations for calls to come shrink towards the limit, so that
// all of it can be used.
func testMoneyAhead(t *testing.T, s suite) {
	st, run := s.begin(t)
	d := money.Demand{Need: 10, Ahead: 190}
	var got []int64
	for {
		b := mustDemand(t, st, run.ID, store.Claimant, d)
		if b.Granted == 0 {
			break
		}
		got = append(got, b.Granted)
		d.Reserved += b.Granted
	}
	if got[0] != 200 || d.Reserved <= 990 || d.Reserved > 1000 {
		t.Errorf("%d reserved in %v, want 200 first and nearly 1000 in all", d.Reserved, got)
	}
}

// testMoneyOverspent checks that a run that cost more than its limit gets nothing, also later
// and for other holders, and that the factor is kept.
func testMoneyOverspent(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100})
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Spent: 5000, Factor: 50})
	mustAppend(t, st, run.ID, paid(0, 5000))
	must(t, st.Leave(t.Context(), run.ID, store.Claimant))
	wantMoney(t, st, run.ID, 5000, 0)
	want := money.Balance{Free: -4000, Counted: 5000, Recorded: 5000, Factor: 50}
	if b := mustDemand(t, st, run.ID, "a", money.Demand{Need: 1}); b != want {
		t.Errorf("Demand = %+v, want %+v", b, want)
	}
	if r, err := st.Run(t.Context(), run.ID); err != nil || r.Factor != 50 || r.MaxMicros == nil || *r.MaxMicros != 1000 {
		t.Errorf("the run has factor %d and limit %v, %v, want 50 and 1000", r.Factor, r.MaxMicros, err)
	}
	must(t, st.Leave(t.Context(), run.ID, "a"))
	must(t, st.Release(run.ID))
	if r, _ := mustBegin(t, st, Spec(""), false); r.Factor != 50 || r.MaxMicros != nil {
		t.Errorf("the resumed run has factor %d and limit %v, want 50 and none yet", r.Factor, r.MaxMicros)
	}
}

// testMoneySettle checks that the user can release money that was never settled, but not
// while the run is being judged.
func testMoneySettle(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100})
	mustAppend(t, st, run.ID, paid(0, 30))
	_, err := st.Settle(t.Context(), run.ID)
	wantError(t, "Settle of a run that is being judged", err, store.ErrBusy, "")
	must(t, st.Release(run.ID))
	if released, err := st.Settle(t.Context(), run.ID); err != nil || released != 70 {
		t.Errorf("Settle = %d, %v, want 70", released, err)
	}
	wantMoney(t, st, run.ID, 30, 0)
	mustBegin(t, st, Spec(""), false) // The claim is free again.
	if b := mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100}); b.Counted != 130 {
		t.Errorf("Demand = %+v, want 130 counted", b)
	}
}

// testMoneyUnbudgeted checks that reserved money stays reserved while the run continues
// without a budget.
func testMoneyUnbudgeted(t *testing.T, s suite) {
	st, run := s.begin(t)
	mustDemand(t, st, run.ID, store.Claimant, money.Demand{Need: 100})
	must(t, st.Close())
	st = s.open(t)
	mustBegin(t, st, Spec(""), false)
	mustAppend(t, st, run.ID, paid(0, 500))
	wantMoney(t, st, run.ID, 500, 100)
}

// testMoneyBatches checks that replies of batches count once, before and after a record has
// them, and are not taken out of what holders spent.
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
	for i, d := range []money.Demand{{Need: 50}, {Reserved: 50}, {Reserved: 50}} {
		if b := mustDemand(t, st, run.ID, store.Claimant, d); b.Counted != 250 || b.Recorded != 200 {
			t.Errorf("with %d records Demand = %+v, want 250 counted", i, b)
		}
		wantMoney(t, st, run.ID, int64(i)*100, 50)
		if i < len(recs) {
			mustAppend(t, st, run.ID, recs[i])
		}
	}
}

func testMoneyUnknownRun(t *testing.T, s suite) {
	st := s.open(t)
	_, demandErr := st.Demand(t.Context(), "none", "", money.Demand{Limit: 1, Need: 1})
	_, settleErr := st.Settle(t.Context(), "none")
	wantError(t, "Demand", demandErr, store.ErrNotFound, "")
	wantError(t, "Settle", settleErr, store.ErrNotFound, "")
	wantError(t, "Leave", st.Leave(t.Context(), "none", ""), store.ErrNotFound, "")
}
