package cli

import (
	"context"
	"errors"
	"slices"

	"deem"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/report"
)

// errataOptions are the options for faults in the answer key.
type errataOptions struct {
	file      string
	corrected bool
}

// check rejects options without effect.
func (o errataOptions) check() error {
	switch {
	case o.corrected && o.file == "":
		return usage.Errorf("--corrected needs a list of what is wrong: --errata FILE")
	case o.file == "-":
		return usage.Errorf("--errata is read again by later reports, so it must be a file and cannot be standard input")
	}
	return nil
}

// applyErrata matches the errata with the items before anything is paid for, prints a summary, and
// corrects the items if requested.
func (a *app) applyErrata(ctx context.Context, data items, o runOptions) (items, error) {
	if o.errata.file == "" {
		return data, nil
	}
	e, err := reports.ReadErrata(ctx, o.errata.file, o.benchmark)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(data.Items())
	if err != nil {
		return nil, err
	}
	if !o.errata.corrected {
		n, all := m.Faulty(), data.Len()
		a.say("%s of %s with a reference that %s calls wrong: a perfect system scores %.2f%%",
			words.Comma(n), words.Count(all, "item"), e.Name, 100*float64(all-n)/float64(max(all, 1)))
		return data, nil
	}
	n := 0
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		if _, ok := m.Correct(it); ok {
			n++
		}
	}
	c, err := derive(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) {
		it, _ = m.Correct(it)
		return it, true
	}))
	if err != nil {
		return nil, err
	}
	c.names = append(slices.Clone(c.names), "corrected by "+e.Name)
	a.say("%s corrected by %s: these are not the published items", words.Count(n, "reference"), e.Name)
	return c, nil
}

// errataOf returns the effect of errata on the numbers of a run: the errata in the given
// file, or else those given to the run. It returns nil if there are none.
func (a *app) errataOf(ctx context.Context, st store.Store, run store.Run, h report.Head, file string) (*reports.ErrataReport, error) {
	faults, err := reports.Errata(ctx, st, run, h, file, catalog.Again)
	if errors.Is(err, reports.ErrNoErrata) {
		named := reports.SettingsOf(run.Spec).Errata
		a.say("the errata that run %s was told of are not at %s any more; --errata names another place", run.ID, named)
		return nil, nil
	}
	return faults, err
}
