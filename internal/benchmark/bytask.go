package benchmark

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/text"
	"deem/judge"
)

// A ByTask lists the tasks of a benchmark in its own order.
type ByTask[T any] struct {
	Title string // the benchmark's name in prose
	Tasks []T
	Name  func(T) string
}

// Names returns the names of the tasks.
func (t ByTask[T]) Names() []string {
	names := make([]string, len(t.Tasks))
	for i, task := range t.Tasks {
		names[i] = t.Name(task)
	}
	return names
}

// Of returns the task with the given name.
func (t ByTask[T]) Of(name string) (T, bool) {
	i := t.Rank(name)
	if i == len(t.Tasks) {
		var none T
		return none, false
	}
	return t.Tasks[i], true
}

// Rank returns the index of a task in the table; unknown tasks come last.
func (t ByTask[T]) Rank(name string) int {
	i := slices.IndexFunc(t.Tasks, func(task T) bool { return t.Name(task) == name })
	if i < 0 {
		return len(t.Tasks)
	}
	return i
}

// Missing returns the names of the tasks that ought to be present and are not.
func (t ByTask[T]) Missing(have map[string]bool, wanted func(T) bool) []string {
	var list []string
	for _, task := range t.Tasks {
		if wanted(task) && !have[t.Name(task)] {
			list = append(list, t.Name(task))
		}
	}
	return list
}

// Unknown returns the message that a task does not exist, with a suggestion.
func (t ByTask[T]) Unknown(name string) string {
	message := t.Title + " has no task " + text.Repr(name)
	if near := text.Closest(name, t.Names()); near != "" {
		message += "; did you mean " + near + "?"
	}
	return message
}

// The readings: the results of upstream's program, including its bugs, and the same with
// the bugs fixed.
const (
	Upstream = "upstream"
	Fixed    = "fixed"
)

// Readings returns the names of the readings, the default first.
func Readings() []string { return []string{Upstream, Fixed} }

// The labels of verdicts on right and wrong responses. For other responses the label is the
// name of the metric.
const (
	Right = "right"
	Wrong = "wrong"
)

// A Rule is the judge of a benchmark under one reading. It does not use a model, is
// deterministic, and is safe for concurrent use.
type Rule struct {
	name     string
	readings []string
	reading  string
	version  int
	score    Scorer
}

var _ deem.Identified = (*Rule)(nil)

// A Scorer returns the verdict on an item under a reading. It is deterministic, and its
// error is a [*deem.Failure].
type Scorer func(it deem.Item, reading string) (deem.Verdict, error)

// NewRule returns the judge of the named benchmark under one of its readings; "" means the
// first. The version is increased whenever a reading may give a different score, so that
// the judge's hash changes too.
func NewRule(name string, readings []string, reading string, version int, score Scorer) (deem.Judge, error) {
	if reading == "" {
		reading = readings[0]
	}
	if !slices.Contains(readings, reading) {
		return nil, deem.WithHint(fmt.Errorf("%s has no reading %q", name, reading), "it may be %s", strings.Join(readings, ", "))
	}
	return &Rule{name, readings, reading, version, score}, nil
}

// Name returns the name of the benchmark.
func (r *Rule) Name() string { return r.name }

// Reading returns the name of the current reading.
func (r *Rule) Reading() string { return r.reading }

// Reread returns the judge under another reading: the first, or if that is the current one
// the second.
func (r *Rule) Reread() deem.Judge {
	other := *r
	if other.reading = r.readings[0]; r.reading == other.reading {
		other.reading = r.readings[1]
	}
	return &other
}

// Judge scores the item by the rule of its task, which is its category.
func (r *Rule) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	return r.score(it, r.reading)
}

// Identity returns the [judge.Spec] of the judge.
func (r *Rule) Identity() any {
	return judge.Spec{Kind: judge.KindRule, Name: r.name, Version: r.version, Reading: r.reading}
}
