package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// tolerance is how much worse a ratio may be than the baseline before that is a fault.
const tolerance = 0.15

// baselines are what was measured before, one for each kind of machine: a ratio of times
// carries from one machine to another better than a time does, but not to 15 percent.
type baselines struct {
	Entries []baseline `json:"entries"`
}

// A baseline is what one kind of machine gave. In all of it less is better.
type baseline struct {
	Machine machine            `json:"machine"`
	Deem    string             `json:"deem"`
	Date    string             `json:"date"`
	Ratios  map[string]float64 `json:"ratios"`
}

// loadBaselines reads what was measured before. A file that is not there has none.
func loadBaselines(name string) (baselines, error) {
	var b baselines
	text, err := os.ReadFile(name) //nolint:gosec // whoever starts it names the file
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

func (b baselines) save(name string) error {
	text, err := json.MarshalIndent(b, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644) //nolint:gosec // it is meant to be read
}

// of returns the baseline for a machine, and whether there is one.
func (b baselines) of(m machine) (baseline, bool) {
	i := slices.IndexFunc(b.Entries, func(e baseline) bool { return e.Machine == m })
	if i < 0 {
		return baseline{}, false
	}
	return b.Entries[i], true
}

// put replaces the baseline for a machine, or adds it.
func (b *baselines) put(e baseline) {
	b.Entries = slices.DeleteFunc(b.Entries, func(old baseline) bool { return old.Machine == e.Machine })
	b.Entries = append(b.Entries, e)
}

// A standing is how a ratio stands to the baseline.
type standing string

// The standings.
const (
	same    standing = "same"
	better  standing = "better" // by more than the tolerance: the baseline is out of date
	worse   standing = "WORSE"
	unknown standing = "new"  // the baseline does not have it
	lost    standing = "LOST" // the baseline has it, and it was not measured
)

// bad reports whether a job must fail for it. A ratio that is measured no more would
// hide what it was there to show.
func (s standing) bad() bool { return s == worse || s == lost }

// stand returns how a ratio stands to what it was.
func (b baseline) stand(name string, now float64) standing {
	was, ok := b.Ratios[name]
	switch {
	case !ok:
		return unknown
	case now > was*(1+tolerance):
		return worse
	case now < was/(1+tolerance):
		return better
	default:
		return same
	}
}

// missing returns what the baseline has and the measurement has not, in order.
func (b baseline) missing(measured map[string]float64) []string {
	var names []string
	for name := range b.Ratios {
		if _, ok := measured[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
