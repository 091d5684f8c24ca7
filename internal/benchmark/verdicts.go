package benchmark

import (
	"cmp"
	"slices"
	"strings"

	"deem"
)

// Verdicts records the judges of a run's verdicts, and the items without one. It determines
// whether the scores are comparable with published ones.
type Verdicts struct {
	judge       string
	reading     string
	unjudged    []string
	otherJudges []string // judges other than the benchmark's
}

// NewVerdicts returns Verdicts without records, for a run with the named judge under the
// given reading; "" means [Upstream].
func NewVerdicts(judge, reading string) Verdicts {
	return Verdicts{judge: judge, reading: cmp.Or(reading, Upstream)}
}

// Add adds a record. It returns false for a later trial, which does not count in any score
// because trials of one item are not new items.
func (v *Verdicts) Add(rec deem.Record) bool {
	if rec.Trial != 0 {
		return false
	}
	if rec.Judge != v.judge && !slices.Contains(v.otherJudges, rec.Judge) {
		v.otherJudges = append(v.otherJudges, rec.Judge)
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

// Comparable reports whether the verdicts are those of upstream's program: by the
// benchmark's judge, under the upstream reading.
func (v *Verdicts) Comparable() bool { return len(v.otherJudges) == 0 && v.reading == Upstream }

// Unscored describes what happens to unjudged items. Only under upstream's own rules does
// unjudged mean that upstream's program stops at the item.
func (v *Verdicts) Unscored() string {
	if v.Comparable() {
		return "unjudged, in no number, where upstream would have stopped"
	}
	return "unjudged, in no number"
}

// Warning says why scores are not comparable with the published ones, which the named parts
// of upstream produced. It is "" if they are.
func (v *Verdicts) Warning(title, parts string) string {
	switch {
	case len(v.otherJudges) > 0:
		return "the verdicts are of " + strings.Join(v.otherJudges, ", ") + " and not of the published " + parts + ": the scores are not " + title + "'s"
	case v.reading != Upstream:
		return "the reading is " + v.reading + ": the scores are not those of the published program"
	}
	return ""
}
