package web_test

import (
	"context"
	"strings"
	"testing"

	"deem"
	"deem/internal/reader"
	"deem/internal/server"
	"deem/judge"
	"deem/judge/answer"
	"deem/judge/rule"
	"deem/model/fake"
)

// The page of an item shows what its reader was given: which contexts are evidence, and which
// were left out for the budget.
func TestItemContexts(t *testing.T) {
	t.Parallel()
	d, err := reader.Open(reader.Default)
	if err != nil {
		t.Fatal(err)
	}
	d.Contexts.Tokens = 20
	contexts, err := reader.EncodeContexts([]reader.Context{
		{ID: "s1", Text: "<b>Mara</b> moved to Porto."}, {ID: "s2", Text: strings.Repeat("It rained. ", 400)},
	})
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{
		ID: "q1", Question: "Where does Mara live?", References: []string{"Porto"},
		Fields: map[string]string{reader.FieldContexts: contexts, "gold_ids": `["s2"]`},
	}
	st := openStore(t)
	m := fake.Func("fake:reader", func(context.Context, deem.Request) (deem.Reply, error) {
		return deem.Reply{Text: "Braga", Stop: deem.StopEnd}, nil
	})
	run := judged(t, st, answer.New(judge.New(d.Protocol(), m), rule.Exact()), "contexts.jsonl", []deem.Item{it}, 1, nil)
	s := newServer(t, server.Options{Store: st})
	body := get(t, s, "/runs/"+run.ID+"/items/q1").Body.String()
	for _, want := range []string{
		"what reader deem was given", "Context 1, s1", "&lt;b&gt;Mara&lt;/b&gt; moved to Porto.", "Context 2, s2",
		`<span class="tag plain">evidence</span> <span class="tag plain">left out for the budget</span>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	raw := get(t, s, "/runs/"+run.ID+"/raw/q1?part=context.1").Body.String()
	if raw != strings.Repeat("It rained. ", 400) {
		t.Errorf("the text of the second context is %.80q", raw)
	}
}
