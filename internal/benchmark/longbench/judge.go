package longbench

import (
	"deem"
	"deem/internal/benchmark"
)

// The readings: how a response becomes a score.
const (
	// Upstream scores like eval.py, including its bugs: ROUGE is 0 beyond Python's
	// recursion limit, classification skips every second class that it should remove
	// from its list and uses the classes of the file's last line, and code is compared
	// with difflib.
	Upstream = benchmark.Upstream

	// Fixed fixes these: ROUGE has no limit, classification removes every class that it
	// should and uses the item's own classes, code is compared by the characters to
	// insert and delete, and an item without a reference is unjudged.
	Fixed = benchmark.Fixed
)

// The labels of verdicts in LongBench v2, where a response is right or wrong. In the other
// tasks the label is the name of the metric.
const (
	Right = benchmark.Right
	Wrong = benchmark.Wrong
)

// version is increased whenever a reading may give a different score, so that the judge's
// hash changes too.
const version = 1

// Judge returns the judge, a [benchmark.Rule], under the given reading; "" means [Upstream].
func Judge(reading string) (deem.Judge, error) {
	return benchmark.NewRule(Name, benchmark.Readings(), reading, version, verdict)
}

// verdict scores an item by the metric of its task, which is its category.
func verdict(it deem.Item, reading string) (deem.Verdict, error) {
	if it.Fields[fieldEdition] == V2 {
		return choose(it, reading)
	}
	t, ok := table.Of(it.Category)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Input, "%s", table.Unknown(it.Category))
	}
	if len(it.References) == 0 {
		if reading == Upstream { // It takes the best of nothing.
			return deem.Verdict{Label: t.metric, Reason: "no reference, which upstream scores 0"}, nil
		}
		return deem.Verdict{}, deem.Failf(deem.Input, "no reference to compare with")
	}
	score, err := t.score(it, reading)
	if err != nil {
		return deem.Verdict{}, err
	}
	return deem.Verdict{Label: t.metric, Score: score}, nil
}
