package cli

import (
	"context"
	"fmt"
	"io"

	"deem"
	"deem/internal/labels"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
)

// planLabels chooses the items to label and writes them without verdicts: annotators must
// not know what the judge said.
func (a *app) planLabels(ctx context.Context, st store.Store, t *truths) error {
	if t.other != nil {
		return usage.Errorf("--plan chooses items for people, and a second run labels none")
	}
	items, drawn, free, err := drawItems(ctx, st, t)
	if err != nil {
		return err
	}
	a.say("chose %s of %s with a verdict and no label, from every category and verdict, with seed %d", words.Comma(len(items)), words.Comma(free), t.o.seed)
	if t.o.out == "-" && a.json {
		type toLabel struct {
			ID         string   `json:"id"`
			Question   string   `json:"question"`
			References []string `json:"references"`
			Response   string   `json:"response"`
			Drawn      string   `json:"drawn"`
		}
		list := make([]toLabel, len(items))
		for i, it := range items {
			list[i] = toLabel{it.ID, it.Question, it.References, it.Response, drawn[i].String()}
		}
		writeJSON(a.out, struct {
			Seed    uint64    `json:"seed"`
			ToLabel []toLabel `json:"to_label"`
		}{t.o.seed, list})
		return nil
	}
	if t.o.out == "-" {
		return writeTable(a.out, items, drawn)
	}
	if err := writeNew(t.o.out, func(w io.Writer) error { return writeTable(w, items, drawn) }); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"written": t.o.out, "items": len(items), "seed": t.o.seed})
		return nil
	}
	a.say("fill in the column label, then: deem agree %s %s", t.run.ID, t.o.out)
	return nil
}

// drawItems chooses the items to label, and returns how each was drawn and how many
// candidates there were. Only the chosen items are held in memory.
func drawItems(ctx context.Context, st store.Store, t *truths) (items []deem.Item, drawn []labels.Drawn, free int, err error) {
	chosen, free, err := reports.Draw(ctx, st, t.run, t.people, t.o.plan, t.o.seed)
	if err != nil {
		return nil, nil, 0, err
	}
	if len(chosen) == 0 {
		return nil, nil, 0, usage.Errorf("run %s has no judged item left to label", t.run.ID)
	}
	plan, err := deem.Hash([]any{t.run.Judge.Hash, t.run.Dataset.Hash, t.o.plan, t.o.seed, free})
	if err != nil {
		return nil, nil, 0, err
	}
	at := map[int]int{} // position of an item to its index
	drawn = make([]labels.Drawn, len(chosen))
	for i, c := range chosen {
		at[c.Place] = i
		drawn[i] = labels.Drawn{Stratum: fmt.Sprintf("%.4s-%d", plan, c.Stratum), N: c.Drawn, Of: c.Of}
	}
	items = make([]deem.Item, len(chosen))
	for rec, err := range st.Records(ctx, t.run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return nil, nil, 0, err
		}
		if i, ok := at[rec.Position]; ok {
			items[i] = rec.Item
		}
	}
	return items, drawn, free, nil
}

// writeTable writes items as a table with a column for labels and, if a plan drew them, the
// stratum and how many of its items were drawn.
func writeTable(w io.Writer, items []deem.Item, drawn []labels.Drawn) error {
	rows := make([]labels.TableRow, len(items))
	for i, it := range items {
		if rows[i].Item = it; drawn != nil {
			rows[i].Drawn = drawn[i].String()
		}
	}
	return labels.WriteTable(w, rows)
}
