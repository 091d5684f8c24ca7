package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/report"
)

// parseUntil returns the width that the interval must reach, or the run to compare with.
func parseUntil(rule string) (within float64, against string, err error) {
	text := strings.TrimSpace(rule)
	if against, ok := strings.CutPrefix(text, "better than "); ok && strings.TrimSpace(against) != "" {
		return 0, strings.TrimSpace(against), nil
	}
	for _, sign := range []string{"±", "+/-", "+-"} {
		points, ok := strings.CutPrefix(text, sign)
		if !ok || !strings.HasSuffix(points, "pp") {
			continue
		}
		points = strings.ReplaceAll(points, " ", "")
		if within, err = parsePoints(points); err != nil {
			return 0, "", usage.Errorf("--until %s: %w", rule, err)
		}
		return within, "", nil
	}
	return 0, "", usage.Mark(deem.WithHint(fmt.Errorf("--until %s: unknown rule", rule), "write --until '±2pp', or --until 'better than RUN' with a run that deem runs shows"))
}

// checkUntil rejects options that cannot be combined with a stopping rule.
func (o runOptions) checkUntil() error {
	if o.until == "" {
		return nil
	}
	if _, _, err := parseUntil(o.until); err != nil {
		return err
	}
	switch {
	case o.benchmark != nil:
		return usage.Errorf("--until does not go with a benchmark, whose own numbers are of all its items")
	case o.Trials > 1:
		return usage.Errorf("--until does not go with --trials: the rule looks at one verdict for each item")
	case o.batch.on:
		return usage.Errorf("--until does not go with --batch: the verdicts of a batch come all at once")
	case o.detach.on:
		return usage.Errorf("--until does not go with --detach: the workers of a fleet do not stop by a rule")
	case o.lock.file != "":
		return usage.Errorf("--until does not go with --lock: a lock promises all items")
	}
	return nil
}

// untilSettings returns the settings of the rule that a run stores. Earlier is the id of
// the run that it resumes, or "".
func (a *app) untilSettings(ctx context.Context, r *run.Run, earlier string, data items, o runOptions) (*reports.UntilSettings, error) {
	within, ref, err := parseUntil(o.until)
	if err != nil {
		return nil, err
	}
	u := &reports.UntilSettings{Until: report.Until{Seed: o.seed, Within: within, Aim: within}}
	u.Rule = "±" + strconv.FormatFloat(100*within, 'g', 6, 64) + " pp"
	// The largest weight is that of a cluster, or of an item without one, and at least 1. Like
	// in a report, an item without a valid weight counts once.
	u.Largest = 1
	clusters := map[string]float64{}
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		weight := it.Weight
		if !(weight >= 1e-9 && weight <= 1e9) {
			weight = 1
		}
		if it.Cluster != "" {
			clusters[it.Cluster] += weight
			weight = clusters[it.Cluster]
		}
		u.Largest = max(u.Largest, weight)
	}
	if ref == "" {
		return u, nil
	}
	other, err := findRun(ctx, r.Setup.Store, ref)
	if err != nil {
		return nil, err
	}
	if earlier == other.ID && !o.Fresh {
		return nil, usage.Mark(deem.WithHint(fmt.Errorf("--until %s: run %s is this run", o.until, other.ID), "name the other run by its id, which deem runs shows"))
	}
	if other.Judge.Hash != r.Spec.Judge.Hash || other.Model != r.Spec.Model {
		return nil, usage.Errorf("--until %s: run %s has another judge or model: the difference would be one of judges too", o.until, other.ID)
	}
	u.Against, u.Rule = other.ID, "better than "+other.ID
	u.Base, u.Passes, err = resultsOf(ctx, r.Setup.Store, other, data)
	return u, err
}

// resultsOf returns the results of another run for each item, in the order of the items,
// and whether they are pass marks.
func resultsOf(ctx context.Context, st store.Store, run store.Run, data items) (results []*float64, passes bool, err error) {
	verdicts := map[string]*deem.Verdict{}
	passes = true
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Brief: true}) {
		if err != nil {
			return nil, false, err
		}
		if store.IsUnfinished(rec) {
			continue
		}
		verdicts[rec.Item.ID] = rec.Verdict
		passes = passes && (rec.Verdict == nil || rec.Verdict.Pass != nil)
	}
	results = make([]*float64, 0, data.Len())
	for it, err := range data.Items() {
		if err != nil {
			return nil, false, err
		}
		v, ok := verdicts[it.ID]
		if !ok {
			return nil, false, usage.Mark(deem.WithHint(fmt.Errorf("run %s has no record of item %q", run.ID, it.ID),
				"a difference needs the same items in both runs: compare with a run over all of them"))
		}
		var x *float64
		switch {
		case v == nil:
		case passes:
			x = new(float64)
			if *v.Pass {
				*x = 1
			}
		default:
			x = &v.Score
		}
		results = append(results, x)
	}
	return results, passes, nil
}

// shuffle orders items randomly by a seed, with random numbers independent of those of
// --sample. Items of one cluster stay together. It holds all items in memory.
func shuffle(data items, seed uint64) (items, error) {
	var units [][]deem.Item
	clusters := map[string]int{}
	for it, err := range data.Items() {
		if err != nil {
			return nil, err
		}
		at, ok := clusters[it.Cluster]
		if !ok || it.Cluster == "" {
			at = len(units)
			units = append(units, nil)
			clusters[it.Cluster] = at
		}
		units[at] = append(units[at], it)
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	return derive(data, func(yield func(deem.Item, error) bool) {
		for _, unit := range units {
			for _, it := range unit {
				if !yield(it, nil) {
					return
				}
			}
		}
	})
}

// sample draws n items with a seed, in their original order. All items are equally likely
// to be drawn. The same sample has the same hash, so it is the same run.
func sample(data items, n int, seed uint64) (items, *reports.Sample, error) {
	of := data.Len()
	if n > of {
		return nil, nil, usage.Errorf("--sample %d: there are only %d items", n, of)
	}
	drawn := make([]bool, of)
	for _, at := range rand.New(rand.NewPCG(seed, 0)).Perm(of)[:n] {
		drawn[at] = true
	}
	s, err := derive(data, changed(data, func(at int, it deem.Item) (deem.Item, bool) { return it, drawn[at] }))
	return s, &reports.Sample{N: n, Of: of, Seed: seed}, err
}
