package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"deem/internal/reports"
	"deem/internal/reports/compare"
	"deem/internal/usage"
	"deem/internal/words"
)

// writeComparison writes the requested files. It writes none for a refused comparison.
func (a *app) writeComparison(ctx context.Context, f comparison, o compareOptions) error {
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

// newFile is the mode of files for people: everything that the umask allows.
const newFile = 0o666

// writeWhole writes a file atomically. It replaces an existing file of the same kind,
// because these can be regenerated; checkOutputs has rejected others. The new file has the
// mode of the old one, or what the umask allows.
func writeWhole(name string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(name), ".deem-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, newFile)
	if err != nil {
		return usage.Mark(err)
	}
	if old, statErr := os.Stat(name); statErr == nil {
		err = f.Chmod(old.Mode().Perm()) // before anything is written
	}
	w := bufio.NewWriter(f)
	if err == nil {
		err = write(w)
	}
	err = errors.Join(err, w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// texts reads the texts of items again.
func (f comparison) texts(ctx context.Context, flips []compare.Flip) iter.Seq2[compare.FlipText, error] {
	return reports.FlipTexts(ctx, f.store, f.runs, flips)
}
