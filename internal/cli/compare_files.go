package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"deem/internal/findings"
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

// writeWhole writes a file that is whole or not there. An older one of that kind
// gives way, since all of these can be made again; checkOutputs has refused others.
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

// texts reads the texts of items again.
func (f beside) texts(ctx context.Context, flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
	return findings.FlipTexts(ctx, f.store, f.runs, flips)
}
