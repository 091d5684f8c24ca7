package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/report/compare"
)

// writeComparison writes the files that were asked for. A comparison that is refused
// has none.
func (a *app) writeComparison(ctx context.Context, f beside, o compareOptions) error {
	if f.Refused {
		return nil
	}
	if o.flips != "" {
		names := make([]string, len(f.Runs))
		for i, r := range f.Runs {
			names[i] = r.Name
		}
		if f.Unpaired != "" {
			return usage.Errorf("--flips: %s", f.Unpaired)
		}
		err := writeWhole(o.flips, func(w io.Writer) error { return compare.WriteCSV(w, names, f.texts(ctx, f.flips)) })
		if err != nil {
			return err
		}
		a.say("wrote %s with %s", o.flips, words.Count(len(f.flips), "item"))
	}
	if o.html != "" {
		err := writeWhole(o.html, func(w io.Writer) error {
			return f.HTML(w, f.flips, func(flips []compare.Flip) iter.Seq2[compare.FlipText, error] { return f.texts(ctx, flips) })
		})
		if err != nil {
			return err
		}
		a.say("wrote %s", o.html)
	}
	return nil
}

// writeWhole writes a file that is whole or not there. An older one of that name gives
// way, since all of these can be made again.
func writeWhole(name string, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".deem-*")
	if err != nil {
		return usage.Mark(err)
	}
	w := bufio.NewWriter(f)
	err = errors.Join(write(w), w.Flush(), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// flipsAtOnce is how many items are read again at once.
const flipsAtOnce = 200

// texts reads the texts of items again, some at a time, so that memory does not grow
// with how many there are.
func (f beside) texts(ctx context.Context, flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
	return func(yield func(compare.FlipText, error) bool) {
		for len(flips) > 0 {
			n := min(len(flips), flipsAtOnce)
			list, err := f.read(ctx, flips[:n])
			if err != nil {
				yield(compare.FlipText{}, err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
			flips = flips[n:]
		}
	}
}

// read reads the texts of some items from all runs.
func (f beside) read(ctx context.Context, flips []compare.Flip) ([]compare.FlipText, error) {
	list := make([]compare.FlipText, len(flips))
	place := map[string]int{}
	ids := make([]string, len(flips))
	for i, flip := range flips {
		list[i] = compare.FlipText{Flip: flip, Responses: make([]string, len(f.runs)), Reasons: make([]string, len(f.runs))}
		ids[i], place[flip.ID] = flip.ID, i
	}
	for j := len(f.runs) - 1; j >= 0; j-- { // The first run has the last word.
		for rec, err := range f.store.Records(ctx, f.runs[j].ID, store.Query{Trial: new(int), IDs: ids}) {
			if err != nil {
				return nil, err
			}
			t := &list[place[rec.Item.ID]]
			t.Question, t.References, t.Responses[j] = rec.Item.Question, rec.Item.References, rec.Item.Response
			if rec.Verdict != nil {
				t.Reasons[j] = rec.Verdict.Reason
			}
		}
	}
	return list, nil
}
