package benchmark

import (
	"cmp"
	"slices"
	"strings"

	"deem"
)

// Verdicts are where the verdicts of a run came from, and which items have none. They
// decide whether numbers may stand beside the published ones.
type Verdicts struct {
	judge    string
	reading  string
	unjudged []string
	strange  []string // judges other than the benchmark's
}

// NewVerdicts returns those of no record yet, of a run by the named judge under the
// given reading; "" means [Upstream].
func NewVerdicts(judge, reading string) Verdicts {
	return Verdicts{judge: judge, reading: cmp.Or(reading, Upstream)}
}

// Add notes a record. It returns false for one that counts in no number: a later
// trial, because trials of one item are not new items.
func (v *Verdicts) Add(rec deem.Record) bool {
	if rec.Trial != 0 {
		return false
	}
	if rec.Judge != v.judge && !slices.Contains(v.strange, rec.Judge) {
		v.strange = append(v.strange, rec.Judge)
	}
	if rec.Verdict == nil {
		v.unjudged = append(v.unjudged, rec.Item.ID)
	}
	return true
}

// Reading returns the name of the reading.
func (v *Verdicts) Reading() string { return v.reading }

// Unjudged returns the ids of the items without a verdict, sorted.
func (v *Verdicts) Unjudged() []string { return slices.Sorted(slices.Values(v.unjudged)) }

// Comparable reports whether the verdicts are those that upstream's program would have
// given: of the benchmark's judge, under that reading.
func (v *Verdicts) Comparable() bool { return len(v.strange) == 0 && v.reading == Upstream }

// Unscored says what becomes of unjudged items. Only by upstream's own rules is an item
// unjudged because upstream's program stops at it: another judge has other reasons.
func (v *Verdicts) Unscored() string {
	if v.Comparable() {
		return "unjudged, in no number, where upstream would have stopped"
	}
	return "unjudged, in no number"
}

// Warning says why numbers do not compare with the published ones, which the named
// parts of upstream made; "" when they do.
func (v *Verdicts) Warning(title, parts string) string {
	switch {
	case len(v.strange) > 0:
		return "the verdicts are of " + strings.Join(v.strange, ", ") + " and not of the published " + parts + ": the scores are not " + title + "'s"
	case v.reading != Upstream:
		return "the reading is " + v.reading + ": the scores are not those of the published program"
	}
	return ""
}
