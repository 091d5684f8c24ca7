package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"deem"
	"deem/internal/doc"
	"deem/stat"
)

// Report returns the report of the records added so far. The builder stays usable, so a
// report can be made while the run continues.
func (b *Builder) Report() Report {
	b = b.settled()
	metrics := b.main.metrics()
	hold := b.main.hold(*b.Head.MaxUnjudged, "item")
	if b.Head.Trials > 1 { // every trial without a verdict counts
		var all tally
		for _, t := range b.trials {
			all.items += t.items
			all.unjudged += t.unjudged
		}
		hold = all.hold(*b.Head.MaxUnjudged, "trial")
	}
	clusters := b.clusters()
	by := estimator{clustered: clusters.Robust, calibration: b.Head.CalibrationError}
	if boot := b.Head.Bootstrap; boot != nil {
		by.resample = &stat.Resampling{Draws: boot.Draws, Seed: boot.Seed, Level: stat.DefaultLevel}
	}
	r := Report{
		Version: Version, Head: b.Head,
		Records: b.records, Items: b.main.items, Judged: b.main.judged(), Unjudged: b.main.unjudged,
		Hold:       hold,
		Metrics:    make([]Figures, len(metrics)),
		Failures:   b.failureRows(),
		Categories: b.categoryRows(by, metrics[0], hold != nil),
		Trials:     b.trialRows(by),
		Aspects:    b.aspectRows(by, hold != nil),
		Labels:     make([]Label, 0, len(b.labels)),
		Readings:   b.readingRows(by),
		Retrieval:  b.ranked.Retrieval(),
		System:     b.spent.Sums(clusters.Robust),
		Calls:      b.calls.calls(),
		Overspent:  b.Head.Overspent,
	}
	if n := b.undecided; n.N > 0 {
		r.Undecided = &Failures{Kind: deem.Unsure, N: n.N, Examples: n.IDs()}
	}
	if h := r.Head.Harness; h != nil {
		sent := asSent(*h, r.Calls.Wire)
		r.Head.Harness = &sent
	}
	for label, n := range b.labels {
		r.Labels = append(r.Labels, Label{Label: label, N: n})
	}
	slices.SortFunc(r.Labels, func(x, y Label) int {
		return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Label, y.Label))
	})
	for i, metric := range metrics {
		r.Metrics[i] = b.main.figures(by, metric, hold != nil)
	}
	r.Noise = b.noiseOf(by, r.Metrics[0])
	r.Stopped = b.stopped(r.Metrics)
	if est := r.Metrics[0].Judged; clusters.Robust && est != nil && est.EffectiveN > 0 {
		clusters.DesignEffect = min(float64(est.N)/est.EffectiveN, math.MaxFloat64)
	}
	r.Clusters = clusters
	r.Confidence = b.confidence(r.Noise)
	r.Detectable = b.main.detectable(metrics[0], r.Metrics[0].Judged, b.Head.CalibrationError)
	r.Notes = b.notes(r)
	return r
}

// clusters counts the clusters and reports whether intervals must allow for them.
func (b *Builder) clusters() Clusters {
	named := &b.main.cast.named
	c := Clusters{N: len(named.of), Items: b.inClusters}
	if named.shift > 0 {
		c.N, c.More = maxNamed, true
	}
	// Clusters of one item each have no effect. If there are too many clusters to check,
	// they are treated as real clusters, which is correct in either case.
	c.Robust = c.More
	for _, g := range named.of {
		c.Robust = c.Robust || g.items > 1
	}
	return c
}

// failureRows returns the unjudged items by kind, in the order of [deem.Kinds]. Unknown
// kinds come last.
func (b *Builder) failureRows() []Failures {
	rows := make([]Failures, 0, len(b.failures))
	for kind, n := range b.failures {
		rows = append(rows, Failures{Kind: kind, N: n.N, Examples: n.IDs()})
	}
	known := deem.Kinds()
	rank := func(k deem.Kind) int {
		if i := slices.Index(known, k); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortFunc(rows, func(x, y Failures) int {
		return cmp.Or(cmp.Compare(rank(x.Kind), rank(y.Kind)), cmp.Compare(x.Kind, y.Kind))
	})
	return rows
}

// categoryRows returns the figures of each category under the metric of the whole run. A
// category whose scores happen to be all 0 or 1 keeps that metric.
func (b *Builder) categoryRows(by estimator, metric string, withheld bool) []Category {
	rows := make([]Category, 0, len(b.categories))
	if _, ok := b.categories[doc.None]; ok && len(b.categories) == 1 {
		return rows
	}
	var parts []*tally
	for _, name := range slices.Sorted(maps.Keys(b.categories)) {
		part := b.categories[name]
		rows = append(rows, Category{Name: name, Figures: part.figures(by, metric, withheld)})
		parts = append(parts, part)
	}
	if !withheld {
		by.contrast(rows, parts, b.main, metric)
	}
	return rows
}

// trialRows returns the figures of each trial. Each trial is withheld by its own failures.
func (b *Builder) trialRows(by estimator) []Trial {
	rows := make([]Trial, 0, len(b.trials))
	trials := maps.Clone(b.trials)
	if b.Head.Trials < 2 {
		if len(trials) == 0 {
			return rows
		}
		trials[0] = b.main
	}
	for _, i := range slices.Sorted(maps.Keys(trials)) {
		t := trials[i]
		hold := t.hold(*b.Head.MaxUnjudged, "item")
		rows = append(rows, Trial{Trial: i, Hold: hold, Figures: t.figures(by, t.metrics()[0], hold != nil)})
	}
	return rows
}

// aspectRows returns the mean of each aspect. Records do not contain the scale of an
// aspect, so its interval is unbounded.
func (b *Builder) aspectRows(by estimator, withheld bool) []Aspect {
	rows := make([]Aspect, 0, len(b.aspects))
	for _, name := range slices.Sorted(maps.Keys(b.aspects)) {
		a := b.aspects[name]
		row := Aspect{Name: name, N: a.values.N(), Min: a.min, Max: a.max, Unjudged: b.main.unjudged}
		if !withheld && row.N > 1 {
			est := stat.Mean(a.values, stat.DefaultLevel, stat.Bounds{})
			if row.N < fewItems {
				est = est.Warn(warnFew)
			}
			if by.clustered {
				est = est.Warn(doc.WarnIndependent)
			}
			row.Judged = &est
		}
		rows = append(rows, row)
	}
	return rows
}

// readingRows returns the figures of the other readings. Each is withheld by its own
// failures.
func (b *Builder) readingRows(by estimator) []Reading {
	rows := make([]Reading, 0, len(b.readings))
	for _, name := range slices.Sorted(maps.Keys(b.readings)) {
		r := b.readings[name]
		hold := r.hold(*b.Head.MaxUnjudged, "item")
		rows = append(rows, Reading{
			Reading: name, Hold: hold, Figures: r.figures(by, r.metrics()[0], hold != nil),
			Differ: r.differ.N, Examples: r.differ.IDs(),
		})
	}
	return rows
}
