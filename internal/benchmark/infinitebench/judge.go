package infinitebench

import (
	"bytes"
	"encoding/json"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text/metric"
)

// The readings: how a response becomes a score.
const (
	// Upstream scores like compute_scores.py, including its bugs. Where that program
	// would stop, the item is unjudged.
	Upstream = benchmark.Upstream

	// Fixed fixes bugs in some of the rules; the page about the benchmark lists them.
	Fixed = benchmark.Fixed
)

// The labels of verdicts in the tasks where a response is right or wrong. In the others the
// label is the name of the metric.
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

// verdict scores an item by the rule of its task, which is its category.
func verdict(it deem.Item, reading string) (deem.Verdict, error) {
	t, ok := table.Of(it.Category)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Input, "%s", table.Unknown(it.Category))
	}
	label, err := labelOf(it)
	if err != nil {
		return deem.Verdict{}, err
	}
	var score float64
	if reading == Fixed {
		if score, err = t.fixed(it, label); err != nil {
			return deem.Verdict{}, err
		}
	} else if score, err = metric.InfiniteBench(t.name, it.Response, label, it.Fields[fieldModel]); err != nil {
		return deem.Verdict{}, deem.Failf(deem.Input, "upstream stops here: %v", err)
	}
	switch {
	case t.metric != "":
		return deem.Verdict{Label: t.metric, Score: score}, nil
	case score == 1:
		return deem.Verdict{Label: Right, Score: 1}, nil
	}
	return deem.Verdict{Label: Wrong, Score: score}, nil
}

// labelOf returns the label of an item as in the file, with the notation of numbers
// preserved.
func labelOf(it deem.Item) (any, error) {
	raw, ok := it.Fields[fieldLabel]
	if !ok {
		if len(it.References) == 0 {
			return nil, deem.Failf(deem.Input, "no reference to compare with")
		}
		list := make([]any, len(it.References))
		for i, ref := range it.References {
			list[i] = ref
		}
		return list, nil
	}
	var label any
	dec := json.NewDecoder(bytes.NewReader([]byte(raw)))
	dec.UseNumber()
	if err := dec.Decode(&label); err != nil {
		return nil, deem.Failf(deem.Input, "the label is not JSON: %v", err)
	}
	return label, nil
}
