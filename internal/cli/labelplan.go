package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

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
	text, err := planTable(items, drawn)
	if err != nil {
		return err
	}
	a.say("chose %s of %s with a verdict and no label, from every category and verdict, with seed %d", words.Comma(len(items)), words.Comma(free), t.o.seed)
	if t.o.out == "-" && a.json {
		return a.writePlan(items, drawn, t.o.seed)
	}
	if t.o.out == "-" {
		_, err := a.out.Write(text)
		return err
	}
	if err := writeNew(t.o.out, text); err != nil {
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
// candidates there were.
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
	positions := make([]int, len(chosen))
	drawn = make([]labels.Drawn, len(chosen))
	for i, c := range chosen {
		positions[i] = c.Place
		drawn[i] = labels.Drawn{Stratum: fmt.Sprintf("%.4s-%d", plan, c.Stratum), N: c.Drawn, Of: c.Of}
	}
	items, err = itemsOf(ctx, st, t.run, positions)
	return items, drawn, free, err
}

// writePlan writes the items to label as JSON, for labelling programs.
func (a *app) writePlan(items []deem.Item, drawn []labels.Drawn, seed uint64) error {
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
	}{seed, list})
	return nil
}

// itemsOf returns the items at the given positions, in that order. Only these are held in
// memory.
func itemsOf(ctx context.Context, st store.Store, run store.Run, positions []int) ([]deem.Item, error) {
	at := map[int]int{}
	for i, p := range positions {
		at[p] = i
	}
	items := make([]deem.Item, len(positions))
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int)}) {
		if err != nil {
			return nil, err
		}
		if i, ok := at[rec.Position]; ok {
			items[i] = rec.Item
		}
	}
	return items, nil
}

// planTable returns the items as a table with a column for labels and, if a plan drew them,
// the stratum and how many of its items were drawn.
func planTable(items []deem.Item, drawn []labels.Drawn) ([]byte, error) {
	rows := make([]labels.TableRow, len(items))
	for i, it := range items {
		if rows[i].Item = it; drawn != nil {
			rows[i].Drawn = drawn[i].String()
		}
	}
	var buf bytes.Buffer
	err := labels.WriteTable(&buf, rows)
	return buf.Bytes(), err
}

// writeNew writes a file that must not exist.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, newFile)
	if errors.Is(err, fs.ErrExist) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s is there already", name), "move it away, or name another file with -o"))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
