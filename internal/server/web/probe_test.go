package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deem"
	"deem/internal/server"
	"deem/internal/store"
)

// The card of a run over probes shows the results of the judge by kind of probe.
func TestCard(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	s := newServer(t, server.Options{Store: st})
	spec := store.Spec{
		Judge:   store.JudgeSpec{Name: "zebra", Hash: "one", Identity: []byte(`{"kind":"rule"}`), Rule: true},
		Dataset: store.DatasetSpec{Names: store.ProbeNames([]string{"rag.jsonl"}, 7), Hash: "probes", Items: 60}, Trials: 1,
	}
	run, _, err := st.Begin(t.Context(), spec, true)
	if err != nil {
		t.Fatal(err)
	}
	var recs []deem.Record
	add := func(kind, want string, i int, yes bool) {
		id := fmt.Sprint("q", i)
		it := deem.Item{ID: kind + "/" + id, Question: "Where? " + evil, References: []string{"Porto"}, Response: "Lisbon " + evil}
		it.Fields = map[string]string{"probe": kind, "probe_want": want, "probe_of": id}
		rec := deem.Record{Item: it, Position: len(recs), Verdict: &deem.Verdict{Label: "no", Reason: evil}}
		if yes {
			rec.Verdict.Label, rec.Verdict.Score = "yes", 1
		}
		recs = append(recs, rec)
	}
	for i := range 20 {
		add("vague", "no", i, i < 5)
		add("injection", "no", i, i < 4)
		add("reference", "yes", i, i > 1)
	}
	if err := st.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	body := page(t, s, "/runs/"+run.ID+"/card")
	wantAll(t, "the card", body, "60 made from 20 items of rag.jsonl", "seed 7", "25.0% [", "10.0% [", "Instructions to the judge", "For example", "topical, but says less")
	if strings.Contains(body, "<script>alert") {
		t.Error("the card shows what was judged as HTML")
	}
	wantAll(t, "the page of the run", page(t, s, "/runs/"+run.ID), "/card", "Judge card")
	plain := keepRun(t, st, "rag.jsonl", "one", plainItems(5, "rag"), every(2))
	if code := get(t, s, "/runs/"+plain.ID+"/card").Code; code != http.StatusNotFound {
		t.Errorf("the card of a run without probes is answered with %d, want 404", code)
	}
	wantNone(t, "the page of a run without probes", page(t, s, "/runs/"+plain.ID), "Judge card")
}
