package longbench

import (
	"context"
	"fmt"
	"strings"

	"deem"
)

// The readings: ways in which a response becomes a score.
const (
	// Upstream scores as eval.py does, faults included: ROUGE is 0 where Python's
	// limit of nested calls ends it, classification passes over every other class
	// that it means to take off its list and has the classes of the file's last
	// line, and code is compared by difflib.
	Upstream = "upstream"

	// Fixed mends these: ROUGE has no limit, classification takes off every class
	// that it means to and has the item's own classes, code is compared by the
	// characters to insert and delete, and an item without a reference is
	// unjudged.
	Fixed = "fixed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Fixed} }

// The labels of verdicts in LongBench v2, where a response is right or wrong. In
// the other tasks the label is the name of the metric.
const (
	Right = "right"
	Wrong = "wrong"
)

// version is raised when a reading may give another score than before, so that the
// judge's hash changes with it.
const version = 1

// A Rule is the judge of LongBench under one reading. It asks no model, is pure and
// may be used by several goroutines.
type Rule struct{ reading string }

var _ deem.Identified = (*Rule)(nil)

// Judge returns the judge under the given reading; "" means [Upstream].
func Judge(reading string) (deem.Judge, error) {
	switch reading {
	case "":
		reading = Upstream
	case Upstream, Fixed:
	default:
		return nil, deem.WithHint(fmt.Errorf("%s has no reading %q", Name, reading), "it may be %s", strings.Join(Readings(), ", "))
	}
	return &Rule{reading}, nil
}

// Name returns the name of the benchmark.
func (r *Rule) Name() string { return Name }

// Reading returns the name of the reading in force.
func (r *Rule) Reading() string { return r.reading }

// Reread returns the judge under the other reading.
func (r *Rule) Reread() deem.Judge {
	if r.reading == Upstream {
		return &Rule{Fixed}
	}
	return &Rule{Upstream}
}

// identity tells this judge from every other, in the form that all rules have.
type identity struct {
	Kind    string            `json:"kind"` // always "rule"
	Name    string            `json:"name"`
	Version int               `json:"version"`
	Options map[string]string `json:"options"`
}

// Identity returns the name, the reading and the version of the judge.
func (r *Rule) Identity() any {
	return identity{Kind: "rule", Name: Name, Version: version, Options: map[string]string{"reading": r.reading}}
}

// Judge scores it by the metric of its task, which is its category.
func (r *Rule) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	if it.Fields[fieldEdition] == V2 {
		return r.choose(it)
	}
	t, ok := taskOf(it.Category)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Input, "%s", unknownTask(it.Category))
	}
	if len(it.References) == 0 {
		return r.nothing(t)
	}
	score, err := t.score(it, r.reading)
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: t.metric, Score: score}, nil
}

// nothing is the verdict on an item without a reference. Upstream takes the best of
// nothing, which is 0.
func (r *Rule) nothing(t task) (deem.Verdict, error) {
	if r.reading == Upstream {
		return deem.Verdict{Label: t.metric, Reason: "no reference, which upstream scores 0"}, nil
	}
	return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
}
