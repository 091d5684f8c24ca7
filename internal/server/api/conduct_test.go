package api_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"deem"
	"deem/internal/queue"
	"deem/internal/reports"
	"deem/internal/server/api"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/test/modeltest"
	"deem/internal/test/storetest"
)

// These tests check that the server treats a run in the same way as "deem run".

// cancelled starts a run over the API, cancels it before any item is judged, and returns it.
func cancelled(t *testing.T, ts *apiServer, v *slowVendor, body string) store.Run {
	t.Helper()
	id := ts.ask(t, "POST", "/api/v1/runs", body).at("id").(string)
	until(t, "the model is asked", func() bool { return v.n.Load() > 0 })
	ts.ask(t, "POST", "/api/v1/runs/"+id+"/cancel", "").want(t, 202)
	v.open()
	ts.untilState(t, id, "open")
	run, err := ts.store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestRunInBatches submits a run whose requests are in the vendor's batches.
func TestRunInBatches(t *testing.T) {
	v := newSlowVendor(t)
	st := openStore(t)
	ts := serveStore(t, st, t.TempDir(), withModel(v.url, func(a *api.Options) { a.Concurrency = 1 }))
	body := `{"judge":"universal","items":` + twoItems + `}`
	run := cancelled(t, ts, v, body)
	b := store.Batch{Key: "b1", ID: "batch_1", State: store.BatchSubmitted, Lines: 1, Planned: time.Now()}
	if err := st.PutBatch(t.Context(), run.ID, b, []store.BatchLine{{Key: "line"}}); err != nil {
		t.Fatal(err)
	}
	asked := v.n.Load()
	ts.ask(t, "POST", "/api/v1/verdicts", body).wantProblem(t, 400, "paid for twice")
	if v.n.Load() != asked {
		t.Errorf("the model was asked %d more times", v.n.Load()-asked)
	}
}

// TestRunOfWorkersIsRefused submits a run that workers judge.
func TestRunOfWorkersIsRefused(t *testing.T) {
	st, err := postgres.Open(t.Context(), storetest.Start(t, storetest.Options{}).URL("postgres"), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	c, err := queue.Open(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	v := newSlowVendor(t)
	ts := serveStore(t, st, t.TempDir(), func(o *options) {
		withModel(v.url, func(a *api.Options) { a.Concurrency = 1 })(o)
		o.API.Queue = c
	})
	body := `{"judge":"universal","items":` + twoItems + `}`
	run := cancelled(t, ts, v, body)
	items := func(yield func(deem.Item, error) bool) { yield(deem.Item{ID: "q2", Response: "It took 19 days."}, nil) }
	if _, err := c.Enqueue(t.Context(), queue.Work{Run: run, Items: items}); err != nil {
		t.Fatal(err)
	}
	asked := v.n.Load()
	ts.ask(t, "POST", "/api/v1/verdicts", body).wantProblem(t, 409, "deem queue")
	if v.n.Load() != asked {
		t.Errorf("the model was asked %d more times", v.n.Load()-asked)
	}
}

// A steeredQueue is a queue that accepts every change.
type steeredQueue struct{}

func (steeredQueue) Resume(context.Context, string, queue.Change) error { return nil }
func (steeredQueue) Cancel(context.Context, string) error               { return nil }
func (steeredQueue) Busy(context.Context, string) error                 { return nil }

// TestRunOfWorkersIsSteered cancels and resumes a run that workers judge. The answers have
// the headers that the OpenAPI document promises.
func TestRunOfWorkersIsSteered(t *testing.T) {
	ts := serveAPI(t, func(o *options) { o.API.Queue = steeredQueue{} })
	run, _, err := ts.store.Begin(t.Context(), store.Spec{
		Judge: store.JudgeSpec{Name: "j", Hash: "h", Rule: true}, Dataset: store.DatasetSpec{Names: []string{"d"}, Hash: "h", Items: 1}, Trials: 1,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"cancel", "resume"} {
		a := ts.ask(t, "POST", "/api/v1/runs/"+run.ID+"/"+verb, "")
		a.want(t, 202, "id", run.ID, "state", "open")
		if at, again := a.header.Get("Location"), a.header.Get("Retry-After"); at != "/api/v1/runs/"+run.ID || again != "1" {
			t.Errorf("%s: Location = %q and Retry-After = %q, want that of run %s and 1", verb, at, again, run.ID)
		}
	}
}

// TestRunKeepsItsLock submits the items of a run that a command judged under a lock.
func TestRunKeepsItsLock(t *testing.T) {
	ts := serveAPI(t, nil)
	body := `{"judge":"match","items":` + twoItems + `}`
	ts.ask(t, "POST", "/api/v1/verdicts", body).want(t, 200)
	run, err := ts.store.Run(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	spec := run.Spec
	want := reports.Settings{System: "mem", Lock: &reports.LockSettings{Hash: "promised", Created: time.Now().UTC().Truncate(time.Second)}}
	if spec.Settings, err = json.Marshal(want); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ts.store.Begin(t.Context(), spec, false); err != nil {
		t.Fatal(err)
	}
	if err := ts.store.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	ts.ask(t, "POST", "/api/v1/verdicts", body).want(t, 200, "run.id", run.ID)
	if run, err = ts.store.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if got := reports.SettingsOf(run.Spec); got.Lock == nil || got.Lock.Hash != "promised" || got.System != "mem" {
		t.Errorf("the run has lock %+v and system %q, want those that it had", got.Lock, got.System)
	}
}

// TestOptionalParameter uses a model that does not support an optional parameter of the judge.
func TestOptionalParameter(t *testing.T) {
	vendor := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if a.Request.Temperature != nil {
			return modeltest.Fail(400, `{"error":{"message":"Unsupported value","param":"temperature","code":"unsupported_value"}}`)
		}
		return modeltest.Say("YES")
	})
	ts := serveAPI(t, withModel(vendor.URL, nil))
	text, _ := json.Marshal("name: mine\nprompt: \"Is {response} an answer?\"\nlabels: {YES: 1, NO: 0}\nparams: {temperature: 0, optional: [temperature]}\n")
	ts.ask(t, "POST", "/api/v1/verdicts", `{"declaration":`+string(text)+`,"items":`+twoItems+`}`).
		want(t, 200, "records.0.verdict.label", "YES", "records.1.verdict.label", "YES")
}
